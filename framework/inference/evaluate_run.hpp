// Evaluates trained models again, on their own sentences or on those of a changed task; and finds the files that
// records refer to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/config/value.hpp"
#include "framework/eval/metric.hpp"
#include "framework/inference/trained.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct Remeasured {
  std::string split;  // "dev" or "test"
  SplitCounts counts;
  std::vector<std::string> changed, missing;  // options whose files changed, or are missing
  MetricTable table;
};

// Reads the split where the run read it, and evaluates it. Throws DataError if its files are missing; other
// differences become notes.
Remeasured evaluate_run(const TrainedRuns& runs,
                        const std::string& split,
                        const Progress& progress = {});

// Returns the options of the search, {"type": "beam", "width": "5"}.
JsonObject search_json(const Spec& spec);
JsonObject remeasured_json(const TrainedRuns& runs, const Remeasured& result);

// Finds the data in a clone or a copied folder of results. In `spec` (the record's), a path without the file
// that the run read is replaced by that of a file with the same bytes, at a suffix of the old path below a
// folder above the record or below the working directory. If there is no such file, the path is not changed.
void find_moved_data(const Record& record, Value& spec);

// Returns the values in `spec` (the record's) that name files, each with the digest of the file
// that the run read.
using DataFiles = std::vector<std::pair<Value*, std::string>>;
DataFiles data_files(const Record& record, Value& spec);

// Returns the file with this digest below a folder, at the longest suffix of its old path.
std::optional<fs::path> find_below(const fs::path& folder,
                                   const fs::path& old,
                                   const std::string& digest);

// Options that name data files ("task.test.source"): those with other bytes than the run read, and those with
// missing files.
struct DataChanges {
  std::vector<std::string> changed, missing;
};
DataChanges data_changes(const Record& record, const Spec& spec);

// Returns advice on restoring missing files.
std::string restore_advice(const Record& record, const std::vector<std::string>& missing);

// Returns the options whose files changed. Throws DataError if files are missing.
std::vector<std::string> changed_data(const Record& record, const Spec& spec);

// Returns the options of a block ("task", "evaluate.search") in which two runs differ.
std::vector<std::string> differences_in(const std::string& block, const Record& a, const Record& b);

// Returns whether the lexicon that the run read has other bytes now; false if it did not read one.
bool lexicon_changed(const TrainedRun& run);

}  // namespace softalign
