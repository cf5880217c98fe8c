// A comparison as JSON: the groups with their metrics; behind it, where there are tests, every group against the baseline.
#pragma once

#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/base/json.hpp"

namespace softalign {

JsonObject comparison_json(const Comparison& comparison,
                           const std::vector<LeftOut>& left_out,
                           const PairedTestOptions& draws);

}  // namespace softalign
