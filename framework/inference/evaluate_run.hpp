// Measuring trained models again: on their own sentences, or on those that changes of the task name; and finding the
// files that their records read.
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
  std::vector<std::string> changed, missing;  // options whose files changed, or are not there
  MetricTable table;
};

// Reads the split where the run read it, and measures it. Throws DataError where its files are missing; gives notes
// about everything else that differs.
Remeasured evaluate_run(const TrainedRuns& runs,
                        const std::string& split,
                        const Progress& progress = {});

// The options of the search, {"type": "beam", "width": "5"}.
JsonObject search_json(const Spec& spec);
JsonObject remeasured_json(const TrainedRuns& runs, const Remeasured& result);

// Finds the data of a clone or a copied folder of results. In `spec`, the record's, a file that is not, as the
// run read it, at its path gets the path of a file of the same bytes: below a folder that the record lies in,
// or the working directory, under the end of its old path. A path whose file is not found stays as it is.
void find_moved_data(const Record& record, Value& spec);

// The values in `spec`, the record's, that name files, each with the digest of what the run read.
using DataFiles = std::vector<std::pair<Value*, std::string>>;
DataFiles data_files(const Record& record, Value& spec);

// A file of this digest below a folder, under the longest end of its old path.
std::optional<fs::path> find_below(const fs::path& folder,
                                   const fs::path& old,
                                   const std::string& digest);

// Options that name data files ("task.test.source"): those whose bytes are not what the record's run read, and
// those whose files are not there.
struct DataChanges {
  std::vector<std::string> changed, missing;
};
DataChanges data_changes(const Record& record, const Spec& spec);

// Advice for missing files.
std::string restore_advice(const Record& record, const std::vector<std::string>& missing);

// The options whose files changed. Throws DataError where files are missing.
std::vector<std::string> changed_data(const Record& record, const Spec& spec);

// The options of the task in which two runs differ.
std::vector<std::string> task_differences(const Record& a, const Record& b);

}  // namespace softalign
