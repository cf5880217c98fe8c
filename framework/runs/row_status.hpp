// How the rows of a list stand, derived from files alone; nothing is remembered anywhere else.
#pragma once

#include <string>
#include <vector>

#include "framework/record/folder/status.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {

struct RowStatus : RunStatus {
  std::string fault;  // in one line: why it failed, or what is corrupt
};

// `proof` tells lost from slow where other hosts work on the list: SlurmWitness, for one.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const ProofOfDeath& proof = proof_of_death);
// The same from what is known of its run already.
RowStatus row_status(const RunList& list, const ListedRun& row, RunStatus run);

// The states of all rows as people read them: "complete", "planned", "complete as other/3f2a".
std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows);

// The newest value of the list's metric that a row has recorded; NaN when there is none.
double metric_of(const RunList& list, const RunStatus& row);

}  // namespace softalign
