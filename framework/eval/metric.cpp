#include "framework/eval/metric.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/eval/text_metrics.hpp"

namespace softalign {

MetricFacts Metric::facts() const {
  MetricFacts facts = about();
  const auto all = columns();
  facts.searched = std::ranges::any_of(all, [](const CountColumn& column) {
    return column.source == CountSource::decoded || column.source == CountSource::numbers;
  });
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
  return without_references(signature) == without_references(facts.signature) ||
         (facts.of_rows && signature == kReadRows);
}

bool highest_is_best(const std::string& name) {
  const std::optional<bool> highest = metrics_named({name})[0].metric->facts().higher_is_better;
  if (!highest)
    throw SpecError("{} has no better end, so it cannot select anything; use another metric", name);
  return *highest;
}

std::shared_ptr<const CountLayout> count_layout(const std::vector<NamedMetric>& metrics) {
  std::vector<CountColumn> columns;
  for (const NamedMetric& named : metrics)
    for (CountColumn& column : named.metric->columns()) columns.push_back(std::move(column));
  return std::make_shared<CountLayout>(std::move(columns));
}

namespace {

// Returns the sentences of each row of a table.
std::vector<CountRows> sentences_of(const CountTable& counts, const Buckets& buckets) {
  std::vector<CountRows> rows(1 + buckets.labels.size());
  rows[0] = rows_of(counts);
  if (buckets.labels.empty()) return rows;
  if (buckets.of_sentence.size() != rows[0].size())
    throw BugError("buckets of {} sentences for {}", buckets.of_sentence.size(), rows[0].size());
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    const Index bucket = buckets.of_sentence[i];
    if (bucket < 0 || bucket >= std::ssize(buckets.labels))
      throw BugError("sentence {} in bucket {} of {}", i, bucket, buckets.labels.size());
    rows[usize(1 + bucket)].push_back(rows[0][i]);
  }
  return rows;
}

// Returns whether a metric counts numbers and they were measured.
bool measures_numbers(const CountTable& counts, const std::vector<NamedMetric>& metrics) {
  for (const NamedMetric& named : metrics)
    for (const CountColumn& column : named.metric->columns())
      if (column.source == CountSource::numbers && is_measured(counts, column)) return true;
  return false;
}

}  // namespace

double MetricTable::find(const std::string& row, const std::string& metric) const {
  const auto r = std::ranges::find(rows, row) - rows.begin();
  const auto m = std::ranges::find(metrics, metric) - metrics.begin();
  const bool known = r < std::ssize(rows) && m < std::ssize(metrics);
  return known ? at(usize(r), usize(m)) : kUndefined;
}

double MetricTable::at(const std::string& row, const std::string& metric) const {
  if (std::ranges::count(rows, row) == 0)
    throw BugError("no row '{}' in the table of metrics", row);
  if (std::ranges::count(metrics, metric) == 0)
    throw SpecError("no metric '{}'{}", metric, suggestion(metric, metrics));
  return find(row, metric);
}

MetricTable summarize(const CountTable& counts,
                      const std::vector<NamedMetric>& metrics,
                      const Buckets& buckets) {
  MetricTable table;
  table.rows = {"all"};
  table.rows.insert(table.rows.end(), buckets.labels.begin(), buckets.labels.end());
  table.length_unit = buckets.unit;
  const bool of_numbers = measures_numbers(counts, metrics);
  for (const NamedMetric& named : metrics) {
    table.metrics.push_back(named.name);
    MetricFacts& facts = table.facts.emplace_back(named.metric->facts());
    if (of_numbers) facts.main = facts.main_of_numbers;
  }
  table.values.resize({table.rows.size(), metrics.size()});
  for (const CountRows& row : sentences_of(counts, buckets)) {
    for (std::size_t m = 0; m < metrics.size(); ++m)
      table.values(table.sentences.size(), m) = metrics[m].metric->value({counts.layout(), row});
    table.sentences.push_back(std::ssize(row));
  }
  return table;
}

JsonObject metrics_json(const MetricTable& table) {
  JsonObject json = JsonObject::object();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    JsonObject& row = json[table.rows[r]];
    row["n"] = table.sentences[r];
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      if (std::isfinite(table.at(0, m))) row[table.metrics[m]] = table.at(r, m);
  }
  return json;
}

}  // namespace softalign
