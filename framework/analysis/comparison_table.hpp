// The table of a comparison's groups as Markdown, LaTeX and CSV, and the functions that build it.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/comparison.hpp"

namespace softalign {

using ShownColumns = std::vector<const ComparisonColumn*>;

int decimals_of(const ComparisonColumn& column);
std::string title_of(const ComparisonColumn& column);
// Returns "21.50 ±0.30", or "-" if no run of the group defines the metric.
std::string seeds_text(const Seeds& seeds, int decimals, bool signs = false);
bool is_best(const ComparisonColumn& column, std::size_t group);
std::string names_of(const ComparedGroup& group);  // names of its runs
std::vector<Difference> parameters_of(const Comparison& comparison);

// The columns before the metrics of a group, in all formats: number, names if they differ, parameters, seeds.
struct GroupTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

GroupTable described_groups(const Comparison& comparison);

// Best values are bold.
std::string markdown_table(const Comparison& comparison, const ShownColumns& shown);
std::string latex_table(const Comparison& comparison, const ShownColumns& shown);  // for booktabs
// Mean and standard deviation have separate columns.
std::string csv_table(const Comparison& comparison, const ShownColumns& shown);

}  // namespace softalign
