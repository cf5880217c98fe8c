// A comparison for people, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/app/terminal/json.hpp"

namespace softalign::app {

// The groups with their metrics; behind it, where there are tests, every group against the
// baseline and what the numbers mean. Fits the terminal.
std::string comparison_text(const Comparison& comparison, const PairedTestOptions& draws);

Json comparison_json(const Comparison& comparison,
                     const std::vector<LeftOut>& left_out,
                     const PairedTestOptions& draws);

}  // namespace softalign::app
