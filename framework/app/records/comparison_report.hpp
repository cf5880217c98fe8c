// A comparison for people.
#pragma once

#include <string>

#include "framework/analysis/panel.hpp"

namespace softalign::app {

// The groups with their metrics; behind it, where there are tests, every group against the
// baseline and what the numbers mean. Fits the terminal.
std::string comparison_text(const Comparison& comparison, const PairedTestOptions& draws);

}  // namespace softalign::app
