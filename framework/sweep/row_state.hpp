// How the rows of a sweep stand, derived from files alone; nothing is remembered anywhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/record/status.hpp"
#include "framework/sweep/plan.hpp"

namespace softalign {

enum class RowState {
  planned,      // nobody has begun it
  claimed,      // by a process that has recorded nothing yet
  running,      //
  interrupted,  // stopped with its state saved: goes on
  complete,
  pruned,   // stopped early by the sweep's rule
  failed,   // by an error that would come again: `sweep retry`
  lost,     // its process is provably gone without a word: goes on
  corrupt,  // its files cannot be read: `sweep retry --state corrupt`
};
inline constexpr RowState kRowStates[] = {RowState::planned,
                                          RowState::claimed,
                                          RowState::running,
                                          RowState::interrupted,
                                          RowState::complete,
                                          RowState::pruned,
                                          RowState::failed,
                                          RowState::lost,
                                          RowState::corrupt};
std::string_view to_string(RowState state);

struct RowStatus {
  RowState state = RowState::planned;
  RunStatus run;
  std::string fault;  // in one line: why it failed, or what is corrupt
};

// `proof` tells lost from slow where other hosts work on the sweep: SlurmWitness, for one.
RowStatus row_status(const SweepPlan& plan,
                     const SweepRow& row,
                     const ProofOfDeath& proof = proof_of_death);

// What is wrong with the files of a run that somebody has begun; empty when they can be read. Slower
// than row_status: it reads them.
std::string fault_of(const RunFolder& run);
// The same from what is known of its run already.
RowStatus row_status(const SweepPlan& plan, const SweepRow& row, RunStatus run);

// The newest value of the sweep's metric that a row has recorded; NaN when there is none.
double metric_of(const SweepPlan& plan, const RowStatus& row);

inline bool is_worked_on(RowState state) {
  return state == RowState::claimed || state == RowState::running;
}
inline bool is_over(RowState state) {
  return state == RowState::complete || state == RowState::pruned;
}

}  // namespace softalign
