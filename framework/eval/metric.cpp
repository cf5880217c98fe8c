#include "framework/eval/metric.hpp"

#include <algorithm>

#include "framework/config/registry.hpp"

namespace softalign {

MetricFacts Metric::facts() const {
  MetricFacts facts = about();
  const auto all = columns();
  facts.searched = std::ranges::find(all, CountSource::decoded, &CountColumn::source) != all.end();
  return facts;
}

double ratio(double numerator, double denominator) {
  return denominator == 0 ? kUndefined : numerator / denominator;
}

std::vector<NamedMetric> default_metrics() {
  std::vector<std::string> names;
  for (const PluginEntry* entry : Registry::instance().entries(MetricKind::name))
    names.push_back(entry->name);
  return metrics_named(names);
}

std::vector<NamedMetric> metrics_named(const std::vector<std::string>& names) {
  std::vector<NamedMetric> metrics;
  for (const std::string& name : names) {
    std::shared_ptr<const Metric> metric = metric_named(name);
    if (!metric) Registry::instance().find(MetricKind::name, name);  // throws
    metrics.push_back({name, std::move(metric)});
  }
  return metrics;
}

std::unique_ptr<Metric> metric_named(const std::string& name) {
  const std::optional<Choice> choice = plugin_of_word(MetricKind::name, name);
  return choice ? make_plugin<MetricKind>(*choice) : nullptr;
}

bool counts_alike(const MetricFacts& facts, const std::string& signature) {
  return signature == facts.signature || (facts.of_rows && signature == kReadRows);
}

bool highest_is_best(const std::string& name) {
  const std::optional<bool> highest = metrics_named({name})[0].metric->facts().higher_is_better;
  if (!highest)
    throw SpecError("{} has no good end, so nothing is chosen by it; take another metric", name);
  return *highest;
}

std::shared_ptr<const CountLayout> count_layout(const std::vector<NamedMetric>& metrics) {
  std::vector<CountColumn> columns;
  for (const NamedMetric& named : metrics)
    for (CountColumn& column : named.metric->columns()) columns.push_back(std::move(column));
  return std::make_shared<CountLayout>(std::move(columns));
}

}  // namespace softalign
