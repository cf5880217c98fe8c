// Plans a sweep: the list of its runs, the variants of each part or the configurations of the parameters, with
// each seed, the last varying fastest. A row of parameters is a pure function of (sweep, k).
#pragma once

#include <string>
#include <vector>

#include "framework/runs/run_list.hpp"

namespace softalign {

struct Plan {
  RunList list;                     // of variants: rows that were planned before, then new ones
  std::vector<std::size_t> wanted;  // the rows that the file has now, in its order
  std::map<std::string, std::vector<Index>> lengths;  // evaluate.lengths, by part

  // Returns the wanted rows whose "part/variant" matches the shell pattern; all for "".
  std::vector<std::size_t> chosen(const std::string& pattern) const;
};

// Returns all runs of the sweep (for Optuna none), or of the parts with a variant that `pattern` selects. Reads their
// specs, checks them against the plugins and hashes their data; other parts are not read. `overrides` are applied
// last in variants, and to the base of parameters. Writes nothing. Throws SpecError, also if two rows are the same
// run, a metric is unknown or nothing is selected, and DataError for missing data files.
Plan plan_sweep(const Sweep& sweep,
                const std::vector<Override>& overrides,
                const std::filesystem::path& results,
                const LoadSpec& load,
                const std::string& pattern = "");

// Returns the hash of the list that a sweep of parameters would have, which is faster than planning it.
std::string plan_hash(const Sweep& sweep, const LoadSpec& load);

// Returns the rows of one more configuration, such as a proposal of Optuna, numbered after those of the list; for a
// run that the list already has, its row.
std::vector<ListedRun> rows_of(const RunList& list,
                               const std::vector<Override>& set,
                               const LoadSpec& load);

}  // namespace softalign
