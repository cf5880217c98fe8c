// A comparison for people.
#pragma once

#include <string>

#include "framework/analysis/comparison.hpp"

namespace softalign {

enum class ComparisonFormat { text, markdown, latex, csv };

struct ComparisonForm {
  ComparisonFormat format = ComparisonFormat::text;
  std::size_t width = 0;     // columns of a terminal that tables of text fit; 0: no limit
  bool all_columns = false;  // also metrics in which no group differs
};

// text: the groups with their metrics; behind it, where there are tests, every group against the baseline and what
// the numbers mean. markdown, latex (booktabs): the table of the groups, the best values bold. csv: the same, mean and
// deviation in columns of their own.
std::string comparison_text(const Comparison& comparison,
                            const BootstrapOptions& draws,
                            const ComparisonForm& form = {});

}  // namespace softalign
