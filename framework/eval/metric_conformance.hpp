// Conformance tests of metrics, built in or loaded, on made-up sentences: columns are counted from what they
// name, all their numbers and no more; a value is in its range, and needs no sentence to be called.
#pragma once

#include <vector>

#include "framework/eval/metric.hpp"
#include "framework/seq/conformance.hpp"

namespace softalign {

std::vector<ConformanceResult> check_metric(const Metric& metric);

}  // namespace softalign
