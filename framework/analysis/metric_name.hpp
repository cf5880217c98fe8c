// What to compare, as it is written on a command line: metrics of tests and series, and ranges of
// source length.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

// "bleu" or "test/bleu": over the test set; "dev/loss": the last value of a series; "dev/loss:best"
// its best one.
struct MetricName {
  std::string text;    // as it is shown
  std::string series;  // empty: the test set
  std::string metric;
  bool best = false;
};
// Throws SpecError for what has another form, and for the best of a metric that has none.
MetricName metric_name(const std::string& text);
std::vector<MetricName> metric_names(const std::string& list);  // "bleu,dev/loss"

// Source lengths in tokens, both ends included: "31-50", "61+", "40", as a study's claims have them.
struct LengthRange {
  Index shortest = 0;
  Index longest = std::numeric_limits<Index>::max();
  bool all() const { return shortest == 0; }
};
LengthRange length_range(const std::string& text);  // throws SpecError

}  // namespace softalign
