#include "framework/eval/metric.hpp"

#include <limits>

namespace softalign {

double ratio(double numerator, Index denominator) {
  if (denominator == 0) return std::numeric_limits<double>::quiet_NaN();
  return numerator / static_cast<double>(denominator);
}

double percent(Sentences sentences, const std::function<Count(const SentenceResult&)>& part) {
  Count sum;
  for (const SentenceResult* sentence : sentences) sum += part(*sentence);
  return ratio(100 * static_cast<double>(sum.hits), sum.total);
}

std::vector<NamedMetric> all_metrics() {
  std::vector<NamedMetric> metrics;
  for (const PluginEntry* entry : Registry::instance().entries(MetricKind::name)) {
    const Choice choice{.kind = MetricKind::name, .type = entry->name, .options = {}, .where = {}};
    metrics.push_back({entry->name, make_plugin<MetricKind>(choice)});
  }
  return metrics;
}

}  // namespace softalign
