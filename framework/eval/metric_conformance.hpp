// Conformance tests of metrics, built in or loaded, on made-up sentences: columns read only their source and
// fill exactly their numbers; values are in range, and NaN without sentences.
#pragma once

#include <vector>

#include "framework/eval/metric.hpp"
#include "framework/seq/conformance.hpp"

namespace softalign {

std::vector<ConformanceResult> check_metric(const Metric& metric);

}  // namespace softalign
