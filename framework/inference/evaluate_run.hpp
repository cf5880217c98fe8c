// Measuring trained models again: on their own sentences, or on those that changes of the task name.
#pragma once

#include <string>
#include <vector>

#include "framework/base/json.hpp"
#include "framework/eval/summary.hpp"
#include "framework/inference/trained.hpp"

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

}  // namespace softalign
