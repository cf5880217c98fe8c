#include "framework/runs/study_results.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/data/lengths.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/published/publish.hpp"

namespace softalign {
namespace {

struct Column {
  std::string label;
  Index shortest, longest;
};

std::vector<Column> columns_of(const std::vector<Index>& edges) {
  const LengthBuckets buckets(edges);
  std::vector<Column> columns = {{"all", 0, std::numeric_limits<Index>::max()}};
  for (Index b = 0; b < buckets.count(); ++b) {
    const auto at = usize(b);
    columns.push_back({buckets.label(b),
                       b == 0 ? 1 : edges[at - 1] + 1,
                       at == edges.size() ? std::numeric_limits<Index>::max() : edges[at]});
  }
  return columns;
}

StudyTable::Row row_of(const std::string& name,
                       const std::string& metric,
                       const std::vector<Column>& columns,
                       const std::vector<StoredResults>& seeds) {
  StudyTable::Row row;
  row.name = name;
  for (const Column& column : columns) {
    std::vector<double> values;
    Index n = 0;
    for (const StoredResults& seed : seeds) {
      const std::vector<Index> chosen = seed.of_length(column.shortest, column.longest);
      values.push_back(seed.value(metric, chosen));
      if (values.size() == 1)
        n = std::ssize(chosen);  // a task may give each seed sentences of its own
    }
    row.n.push_back(n);
    row.values.push_back(over_seeds(values));
  }
  return row;
}

std::vector<int> best_rows(const StudyTable& table, bool higher) {
  std::vector<int> best;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::vector<double> means;
    for (const StudyTable::Row& row : table.rows) means.push_back(row.values[c].mean);
    best.push_back(best_of(means, higher));
  }
  return best;
}

StudyTable table_of(const StudyPart& part,
                    const std::string& metric,
                    const std::vector<Column>& columns,
                    const StudyResults& results) {
  StudyTable table{part.name, part.title, metric, "percent", {}, {}, {}};
  for (const Column& column : columns) table.columns.push_back(column.label);
  for (const StudyVariant& variant : part.variants)
    if (const auto& seeds = results.of(part.name, variant.name); !seeds.empty())
      table.rows.push_back(row_of(variant.name, metric, columns, seeds));
  const MetricFacts facts = metric_named(metric)->facts();
  table.units = facts.units;
  if (!facts.baseline_of.empty()) return table;
  if (facts.higher_is_better) table.best = best_rows(table, *facts.higher_is_better);
  // A baseline does not depend on the variant: one row, below.
  const auto first = std::ranges::find_if(part.variants, [&](const StudyVariant& variant) {
    return !results.of(part.name, variant.name).empty();
  });
  if (first == part.variants.end()) return table;
  for (const NamedMetric& baseline : default_metrics())
    if (baseline.metric->facts().baseline_of == metric)
      if (auto row = row_of(baseline.name.substr(metric.size() + 1),
                            baseline.name,
                            columns,
                            results.of(part.name, first->name));
          row.values.front().count > 0 && !std::isnan(row.values.front().mean))
        table.rows.push_back(std::move(row));
  return table;
}

}  // namespace

StudyResults::StudyResults(const StudyPlan& plan) {
  for (const std::size_t i : plan.wanted) {
    const ListedRun& row = plan.list.rows[i];
    if (const RunFolder run = plan.list.run(row); end_is_published(run))
      results_[{row.part, row.variant}].push_back(read_results(Record(run.root)));
  }
}

const std::vector<StoredResults>& StudyResults::of(const std::string& part,
                                                   const std::string& variant) const {
  static const std::vector<StoredResults> none;
  const auto found = results_.find({part, variant});
  return found == results_.end() ? none : found->second;
}

std::vector<StudyTable> study_tables(const Study& study,
                                     const StudyPlan& plan,
                                     const StudyResults& results) {
  std::vector<StudyTable> tables;
  for (const StudyPart& part : study.parts) {
    const auto lengths = plan.lengths.find(part.name);
    if (lengths == plan.lengths.end()) continue;
    const std::vector<Column> columns = columns_of(lengths->second);
    for (const StudyMetric& metric : part.metrics)
      if (StudyTable table = table_of(part, metric.name, columns, results); !table.rows.empty())
        tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<JudgedClaim> judge(const Study& study, const StudyResults& results) {
  return judge(
      study.claims, study.options.seeds.size(), [&](const Measurement& m) -> auto& {
        return results.of(m.part, m.variant);
      });
}

}  // namespace softalign
