#include "framework/launch/study_results.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/significance.hpp"
#include "framework/data/lengths.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/publish.hpp"

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
    const auto at = static_cast<std::size_t>(b);
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
  if (!Registry::instance().find_if_present(MetricKind::name, metric)) return table;  // a baseline
  const auto plugin = make_plugin<MetricKind>(Choice{.kind = MetricKind::name, .type = metric});
  table.units = plugin->units();
  table.best = best_rows(table, plugin->higher_is_better());
  // A baseline does not depend on the variant: one row, below.
  for (const StudyVariant& variant : part.variants) {
    const auto& seeds = results.of(part.name, variant.name);
    if (seeds.empty()) continue;
    for (const auto& [name, counts] : seeds.front().baselines)
      if (name.starts_with(metric + "_"))
        table.rows.push_back(row_of(name.substr(metric.size() + 1), name, columns, seeds));
    break;
  }
  return table;
}

// The sentences that a measurement is over, after the test set was drawn anew, with replacement,
// for the k-th time; as they are for k = 0. All runs of a part see the same draw.
std::vector<Index> drawn_sentences(const StoredResults& results, const Measurement& m, Index k) {
  if (k == 0) return results.of_length(m.shortest, m.longest);
  const Bootstrap bootstrap("bootstrap " + m.part, std::ssize(results.sentences));
  std::vector<Index> drawn;
  for (const Index at : bootstrap.draw(k)) {
    const Index length = results.sentences[static_cast<std::size_t>(at)].source_length;
    if (length >= m.shortest && length <= m.longest) drawn.push_back(at);
  }
  return drawn;
}

bool is_defined(const Measurement& m, const std::vector<StoredResults>& seeds) {
  return std::none_of(seeds.begin(), seeds.end(), [&](const StoredResults& run) {
    return std::isnan(run.value(m.metric, drawn_sentences(run, m, 0)));
  });
}

// Both sides of a claim, over the seeds.
struct Sides {
  Seeds left, right;
};

Sides sides_of(const Statement& statement,
               const StudyResults& results,
               std::size_t seeds,
               Index draw) {
  std::vector<double> left, right;
  for (std::size_t s = 0; s < seeds; ++s) {
    std::vector<double> values;
    for (const Measurement& m : statement.measurements()) {
      const StoredResults& run = results.of(m.part, m.variant).at(s);
      values.push_back(run.value(m.metric, drawn_sentences(run, m, draw)));
    }
    left.push_back(statement.left(values));
    right.push_back(statement.right(values));
  }
  return {over_seeds(left), over_seeds(right)};
}

JudgedClaim judge(const StudyClaim& claim, std::size_t seeds, const StudyResults& results) {
  JudgedClaim judged;
  judged.claim = &claim;
  const Statement& statement = claim.statement;
  judged.sentences = std::numeric_limits<Index>::max();
  for (const Measurement& m : statement.measurements()) {
    const auto& runs = results.of(m.part, m.variant);
    if (runs.size() < seeds) return judged;
    const Index n = std::ssize(runs.front().of_length(m.shortest, m.longest));
    if (n == 0) judged.nothing = m.text;
    judged.sentences = std::min(judged.sentences, n);
  }
  if (judged.sentences == 0) {
    judged.verdict = Verdict::empty;
    return judged;
  }
  for (const Measurement& m : statement.measurements()) {
    if (is_defined(m, results.of(m.part, m.variant))) continue;
    judged.verdict = Verdict::unmeasured;
    judged.nothing = m.text;
    return judged;
  }
  const Sides sides = sides_of(statement, results, seeds, 0);
  judged.left = sides.left;
  judged.right = sides.right;
  judged.verdict =
      statement.holds(sides.left.mean, sides.right.mean) ? Verdict::holds : Verdict::fails;
  Index held = 0;
  for (Index k = 1; k <= kResamples; ++k) {
    const Sides drawn = sides_of(statement, results, seeds, k);
    if (statement.holds(drawn.left.mean, drawn.right.mean)) ++held;
  }
  judged.confidence = static_cast<double>(held) / static_cast<double>(kResamples);
  return judged;
}

}  // namespace

StudyResults::StudyResults(const std::vector<StudyRun>& runs) {
  for (const StudyRun& run : runs)
    if (end_is_published({run.folder}))
      results_[{run.part, run.variant}].push_back(read_results(Record(run.folder)));
}

const std::vector<StoredResults>& StudyResults::of(const std::string& part,
                                                   const std::string& variant) const {
  static const std::vector<StoredResults> none;
  const auto found = results_.find({part, variant});
  return found == results_.end() ? none : found->second;
}

std::vector<StudyTable> study_tables(const Study& study,
                                     const std::vector<StudyRun>& runs,
                                     const StudyResults& results) {
  std::vector<StudyTable> tables;
  for (const StudyPart& part : study.parts) {
    const auto run = std::find_if(
        runs.begin(), runs.end(), [&](const StudyRun& r) { return r.part == part.name; });
    if (run == runs.end()) continue;
    const std::vector<Column> columns = columns_of(run->resolved.spec.evaluate.lengths);
    for (const StudyMetric& metric : part.metrics)
      if (StudyTable table = table_of(part, metric.name, columns, results); !table.rows.empty())
        tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<JudgedClaim> judge(const Study& study, const StudyResults& results) {
  std::vector<JudgedClaim> judged;
  for (const StudyClaim& claim : study.claims)
    judged.push_back(judge(claim, study.seeds.size(), results));
  return judged;
}

}  // namespace softalign
