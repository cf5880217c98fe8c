// A sweep becomes a list of runs. Row k is a pure function of (sweep, k).
#pragma once

#include "framework/runs/run_list.hpp"
#include "framework/study/sweep.hpp"

namespace softalign {

// All rows of a sweep (for optuna none), each resolved and checked against the plugins, its data
// hashed. Nothing is written. Throws SpecError: also when two rows are one run.
RunList plan_sweep(const Sweep& sweep, const std::filesystem::path& results, const LoadSpec& load);

// The hash that the list of this sweep would have; quicker than making it.
std::string plan_hash(const Sweep& sweep, const LoadSpec& load);

// The rows of one more configuration, numbered behind those of the list; for a run that the list has
// already, its row. What optuna proposes becomes rows so.
std::vector<ListedRun> rows_of(const RunList& list,
                               const std::vector<Override>& set,
                               const LoadSpec& load);

}  // namespace softalign
