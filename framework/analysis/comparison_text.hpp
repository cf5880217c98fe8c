// A comparison for people.
#pragma once

#include <string>

#include "framework/analysis/comparison.hpp"

namespace softalign {

// The groups with their metrics; behind it, where there are tests, every group against the baseline and what the
// numbers mean. Tables fit a terminal of so many columns (`width`; 0: no limit).
std::string comparison_text(const Comparison& comparison,
                            const PairedTestOptions& draws,
                            std::size_t width = 0);

}  // namespace softalign
