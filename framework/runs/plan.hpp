// A sweep becomes a list of runs: of each part its variants, or what its parameters make, with every seed, the
// last fastest. A row of parameters is a pure function of (sweep, k).
#pragma once

#include <string>
#include <vector>

#include "framework/runs/run_list.hpp"

namespace softalign {

struct Plan {
  RunList list;                     // of variants: rows that were planned before, then what is new
  std::vector<std::size_t> wanted;  // of them those that the file has now, in its order
  std::map<std::string, std::vector<Index>> lengths;  // evaluate.lengths, by part

  // The wanted rows whose "part/variant" fits the shell pattern; all for "".
  std::vector<std::size_t> chosen(const std::string& pattern) const;
};

// Every run of the sweep (for optuna none), or of those parts that have a variant chosen by `pattern`. Their
// specs are read and checked against the plugins, their data hashed; other parts' are not touched.
// `overrides` come last in variants, and change the base of parameters. Nothing is written. Throws
// SpecError, also when two rows are one run, a metric is unknown or nothing is chosen, DataError for data
// files that are missing.
Plan plan_sweep(const Sweep& sweep,
                const std::vector<Override>& overrides,
                const std::filesystem::path& results,
                const LoadSpec& load,
                const std::string& pattern = "");

// The hash that the list of a sweep of parameters would have; quicker than making it.
std::string plan_hash(const Sweep& sweep, const LoadSpec& load);

// Returns the rows of one more configuration, numbered after those of the list; for a run that the list
// already has, its row. Optuna's proposals become rows this way.
std::vector<ListedRun> rows_of(const RunList& list,
                               const std::vector<Override>& set,
                               const LoadSpec& load);

}  // namespace softalign
