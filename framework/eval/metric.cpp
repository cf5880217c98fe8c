#include "framework/eval/metric.hpp"

#include <algorithm>

namespace softalign {

MetricFacts Metric::facts() const {
  MetricFacts facts = about();
  const auto all = columns();
  facts.searched = std::ranges::find(all, Counted::decoded, &CountColumn::off) != all.end();
  return facts;
}

double ratio(double numerator, double denominator) {
  return denominator == 0 ? kUndefined : numerator / denominator;
}

std::vector<NamedMetric> all_metrics() {
  std::vector<NamedMetric> metrics;
  for (const PluginEntry* entry : Registry::instance().entries(MetricKind::name))
    metrics.push_back({entry->name, registered_metric(entry->name)});
  return metrics;
}

std::unique_ptr<Metric> registered_metric(const std::string& name) {
  if (!Registry::instance().find_if_present(MetricKind::name, name)) return nullptr;
  return make_plugin<MetricKind>(
      Choice{.kind = MetricKind::name, .type = name, .options = {}, .where = {}});
}

bool counts_alike(const MetricFacts& facts, const std::string& signature) {
  return signature == facts.signature || (facts.of_rows && signature == kReadRows);
}

bool highest_is_best(const std::string& name) {
  const std::optional<bool> highest = registered_metric(name)->facts().higher_is_better;
  if (!highest)
    throw SpecError("{} has no good end, so nothing is chosen by it; take another metric", name);
  return *highest;
}

std::shared_ptr<const CountLayout> count_layout() {
  std::vector<CountColumn> columns;
  for (const NamedMetric& named : all_metrics())
    for (CountColumn& column : named.metric->columns()) columns.push_back(std::move(column));
  return std::make_shared<CountLayout>(std::move(columns));
}

}  // namespace softalign
