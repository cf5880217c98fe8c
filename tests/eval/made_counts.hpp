// Hand-made tables of counts.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "framework/eval/metric.hpp"

namespace softalign::test {

using MadeCounts = std::map<std::string, std::vector<double>>;  // by column

// Returns a table with a row per sentence; columns that a sentence lacks are not measured.
inline CountTable made_counts(const std::vector<MadeCounts>& sentences) {
  CountTable table(count_layout(default_metrics()), std::ssize(sentences));
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (const auto& [column, numbers] : sentences[i])
      std::ranges::copy(numbers,
                        table.row(static_cast<Index>(i)).begin() +
                            table.layout().place(column, std::ssize(numbers)));
  return table;
}

inline double value_of(const std::string& metric, const CountTable& table) {
  return metric_named(metric)->value({table.layout(), rows_of(table)});
}

}  // namespace softalign::test
