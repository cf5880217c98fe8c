// A comparison as text.
#pragma once

#include <string>

#include "framework/analysis/comparison.hpp"

namespace softalign {

enum class ComparisonFormat { text, markdown, latex, csv };

struct ComparisonForm {
  ComparisonFormat format = ComparisonFormat::text;
  std::size_t width = 0;     // terminal columns that text tables must fit; 0: no limit
  bool all_columns = false;  // also metrics in which no group differs
};

// text: the groups with their metrics, then the tests of groups against the baseline, if any, with a legend.
// markdown, latex (booktabs): the table of the groups, best values bold. csv: the same table, with separate columns for
// mean and standard deviation.
std::string comparison_text(const Comparison& comparison,
                            const BootstrapOptions& draws,
                            const ComparisonForm& form = {});

}  // namespace softalign
