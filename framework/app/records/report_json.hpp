// What a report draws: softalign export --what report. Names, states, groups, metrics by length with
// their intervals, tests, claims and plans, by the code that `ls`, `compare` and `sweep status` use.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/significance.hpp"
#include "framework/app/terminal/json.hpp"

namespace softalign::app {

// places: runs, records, or folders above some; the folder of a sweep or a study gives its list too.
Json report_json(const std::vector<std::string>& places,
                 const std::string& results,
                 const PairedTestOptions& draws);

}  // namespace softalign::app
