// What every metric must keep, whoever wrote it, tried on made-up sentences: its columns are counted from what
// they name, all their numbers and no more; its value is in its range, and needs no sentence to be called.
#pragma once

#include <vector>

#include "framework/eval/metric.hpp"
#include "framework/seq/conformance.hpp"

namespace softalign {

std::vector<ConformanceResult> check_metric(const Metric& metric);

}  // namespace softalign
