// How the rows of a list stand, derived from files alone; nothing is remembered anywhere else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/record/folder/status.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {

struct RowStatus : RunStatus {
  std::string fault;  // in one line: why it failed, what is corrupt, or why it cannot be read
};

// A row that cannot be read is unreadable; nothing is thrown but std::bad_alloc. `proof` tells lost from slow where other hosts work on the list: SlurmWitness, for one.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const ProofOfDeath& proof = proof_of_death);
// The same from what `look` finds, which may throw.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const std::function<RowStatus()>& look);

// The states of all rows as people read them: "complete", "planned", "complete as other/3f2a".
std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows);

// The newest value of the list's metric that a row has recorded; NaN when there is none.
double metric_of(const RunList& list, const RunStatus& row);

}  // namespace softalign
