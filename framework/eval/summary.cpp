#include "framework/eval/summary.hpp"

#include <algorithm>
#include <cstddef>

#include "framework/base/error.hpp"
#include "framework/base/suggest.hpp"

namespace softalign {
namespace {

using Row = std::vector<const SentenceResult*>;

std::vector<Row> rows_of(const std::vector<SentenceResult>& sentences, const Buckets& buckets) {
  std::vector<Row> rows(1 + buckets.labels.size());
  if (!buckets.labels.empty() && buckets.of_sentence.size() != sentences.size()) {
    throw BugError("buckets of {} sentences for {}", buckets.of_sentence.size(), sentences.size());
  }
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    rows[0].push_back(&sentences[i]);
    if (buckets.labels.empty()) continue;
    const Index bucket = buckets.of_sentence[i];
    if (bucket < 0 || bucket >= static_cast<Index>(buckets.labels.size())) {
      throw BugError("sentence {} in bucket {} of {}", i, bucket, buckets.labels.size());
    }
    rows[static_cast<std::size_t>(1 + bucket)].push_back(&sentences[i]);
  }
  return rows;
}

}  // namespace

double MetricTable::at(const std::string& row, const std::string& metric) const {
  const auto r = std::find(rows.begin(), rows.end(), row);
  const auto m = std::find(metrics.begin(), metrics.end(), metric);
  if (r == rows.end()) throw BugError("no row '{}' in the table of metrics", row);
  if (m == metrics.end()) throw SpecError("no metric '{}'{}", metric, suggestion(metric, metrics));
  return at(static_cast<std::size_t>(r - rows.begin()),
            static_cast<std::size_t>(m - metrics.begin()));
}

MetricTable summarize(const std::vector<SentenceResult>& sentences,
                      const std::vector<NamedMetric>& metrics,
                      const Buckets& buckets) {
  MetricTable table;
  table.rows = {"all"};
  table.rows.insert(table.rows.end(), buckets.labels.begin(), buckets.labels.end());
  for (const NamedMetric& named : metrics) {
    table.metrics.push_back(named.name);
    table.units.push_back(named.metric->units());
    table.signatures.push_back(named.metric->signature());
  }
  for (const Row& row : rows_of(sentences, buckets)) {
    table.sentences.push_back(static_cast<Index>(row.size()));
    for (const NamedMetric& named : metrics) table.values.push_back(named.metric->value(row));
  }
  return table;
}

}  // namespace softalign
