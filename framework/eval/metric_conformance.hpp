// Conformance tests of metrics, built in or loaded, on made-up sentences: columns read only their source and
// fill all their numbers, no more; values are in range, and defined for zero sentences.
#pragma once

#include <vector>

#include "framework/eval/metric.hpp"
#include "framework/seq/conformance.hpp"

namespace softalign {

std::vector<ConformanceResult> check_metric(const Metric& metric);

}  // namespace softalign
