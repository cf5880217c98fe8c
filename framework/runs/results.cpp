#include "framework/runs/results.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

std::vector<std::string> buckets_of(const std::vector<Index>& edges) {
  const LengthBuckets buckets(edges);
  std::vector<std::string> labels = {"all"};
  for (Index b = 0; b < buckets.count(); ++b) labels.push_back(buckets.label(b));
  return labels;
}

void add_row(LengthTable& table,
             const std::string& name,
             const std::string& metric,
             const std::vector<Run>& seeds) {
  std::vector<const Run*> runs;
  for (const Run& run : seeds) runs.push_back(&run);
  LengthTable::Row& row = table.rows.emplace_back(LengthTable::Row{name, {}});
  for (const std::string& bucket : table.buckets)
    row.cells.push_back(length_cell(runs, metric, bucket, {.resamples = 0}));
}

std::vector<int> best_rows(const LengthTable& table, bool higher) {
  std::vector<int> best;
  for (std::size_t b = 0; b < table.buckets.size(); ++b) {
    std::vector<double> means;
    for (const LengthTable::Row& row : table.rows) means.push_back(row.cells[b].over_seeds.mean);
    best.push_back(best_of(means, higher));
  }
  return best;
}

StudyTable table_of(const SweepPart& part,
                    const std::string& metric,
                    const std::vector<std::string>& buckets,
                    ListResults& results) {
  StudyTable table{{metric, metric_named(metric)->facts(), buckets, {}}, part.name, part.title, {}};
  for (const SweepVariant& variant : part.variants)
    if (const auto& seeds = results.of(part.name, variant.name); !seeds.empty())
      add_row(table, variant.name, metric, seeds);
  if (!table.facts.baseline_of.empty()) return table;
  if (table.facts.higher_is_better) table.best = best_rows(table, *table.facts.higher_is_better);
  // A baseline does not depend on the variant: one row, below.
  const auto first = std::ranges::find_if(part.variants, [&](const SweepVariant& variant) {
    return !results.of(part.name, variant.name).empty();
  });
  if (first == part.variants.end()) return table;
  for (const NamedMetric& baseline : default_metrics()) {
    if (baseline.metric->facts().baseline_of != metric) continue;
    add_row(table,
            baseline.name.substr(metric.size() + 1),
            baseline.name,
            results.of(part.name, first->name));
    if (std::isnan(table.rows.back().cells.front().over_seeds.mean)) table.rows.pop_back();
  }
  return table;
}

// "best where units=64", "part/variant".
std::string subject_of(const Measurement& m) {
  if (!m.variant.empty()) return m.part + "/" + m.variant;
  std::string text = "best";
  for (const Setting& setting : m.among)
    text += fmt::format(
        "{}{}={}", text == "best" ? " where " : ", ", setting.path, setting.value.flow());
  return text;
}

bool is_among(const RankedConfiguration& configuration, const Measurement& m, const RunList& list) {
  const std::vector<Override>& set = list.rows[usize(configuration.rows.front())].set;
  return std::ranges::all_of(m.among, [&](const Setting& setting) {
    return std::ranges::any_of(set, [&](const Override& change) {
      return change.path == setting.path && same_value(change.value, setting.value);
    });
  });
}

using Json = JsonObject;

constexpr const char* kStudyFormat = "softalign-study";

Json json_of(const StudyTable& table) {
  Json json{{"part", table.part},
            {"title", table.title},
            {"metric", table.metric},
            {"units", table.facts.units},
            {"columns", table.buckets},
            {"rows", Json::array()}};
  for (const LengthTable::Row& row : table.rows) {
    Json n = Json::array(), values = Json::array();
    for (const LengthCell& cell : row.cells) {
      n.push_back(cell.sentences);
      values.push_back(json_of(cell.over_seeds));
    }
    json["rows"].push_back({{"name", row.name}, {"n", n}, {"values", values}});
  }
  return json;
}

}  // namespace

ListResults::ListResults(const RunList& list,
                         const ListStatus& status,
                         const std::vector<std::size_t>& wanted)
    : list_(list),
      status_(status),
      wanted_(wanted),
      over_(std::ranges::all_of(status.rows,
                                [](const RowStatus& row) { return is_over(row.state); })) {}

std::vector<Index> ListResults::rows_of(const Measurement& m) const {
  std::vector<Index> rows;
  if (!m.variant.empty()) {
    for (const std::size_t i : wanted_)
      if (const ListedRun& row = list_.rows[i]; row.part == m.part && row.variant == m.variant &&
                                                status_.rows[i].state == RunState::complete)
        rows.push_back(row.k);
    return rows;
  }
  const auto found = std::ranges::find_if(status_.ranking, [&](const auto& configuration) {
    return configuration.complete.size() == list_.seeds.size() && is_among(configuration, m, list_);
  });
  return over_ && found != status_.ranking.end() ? found->complete : rows;
}

const std::vector<Run>& ListResults::of(const Measurement& m) {
  const auto [known, first] = results_.try_emplace(subject_of(m));
  if (first)
    for (const Index k : rows_of(m)) {
      Run& run = known->second.emplace_back(read_run(list_.run(list_.rows[usize(k)]).root));
      demand_complete(run);
      run.results = read_results(Record(run.path));
      read_lengths(run);
    }
  return known->second;
}

const std::vector<Run>& ListResults::of(const std::string& part, const std::string& variant) {
  Measurement m;
  m.part = part;
  m.variant = variant;
  return of(m);
}

bool ListResults::is_absent(const Measurement& m) const {
  if (!over_ || m.variant.empty()) return over_ && rows_of(m).empty();
  for (std::size_t i = 0; i < list_.rows.size(); ++i)
    if (const ListedRun& row = list_.rows[i]; row.part == m.part && row.variant == m.variant &&
                                              status_.rows[i].state != RunState::complete)
      return true;
  return false;
}

std::string ListResults::best_text(const Measurement& m) const {
  const std::vector<Index> rows = m.variant.empty() ? rows_of(m) : std::vector<Index>();
  return rows.empty() ? ""
                      : fmt::format("{}: {}rows {}",
                                    subject_of(m),
                                    configuration_text(list_, list_.rows[usize(rows[0])]),
                                    fmt::join(rows, ", "));
}

std::vector<StudyTable> study_tables(const Sweep& sweep, const Plan& plan, ListResults& results) {
  std::vector<StudyTable> tables;
  for (const SweepPart& part : sweep.parts) {
    const auto lengths = plan.lengths.find(part.name);
    if (lengths == plan.lengths.end()) continue;
    const std::vector<std::string> buckets = buckets_of(lengths->second);
    for (const ReportedMetric& metric : part.metrics)
      if (StudyTable table = table_of(part, metric.name, buckets, results); !table.rows.empty())
        tables.push_back(std::move(table));
  }
  return tables;
}

std::optional<Sweep> file_of(const RunList& list) {
  if (!is_there(list.file)) return {};
  demand_regular_file(list.file);
  return read_sweep(list.file);
}

std::vector<StudyClaim> claims_of(const RunList& list, const std::optional<Sweep>& sweep) {
  if (!sweep || list.has_variants()) return {};
  if (sweep->name != list.name && sweep->name + "-tiny" != list.name)
    throw SpecError("{}: is now the file of sweep {}, not of {}",
                    sweep->file.string(),
                    printable(sweep->name),
                    list.name);
  for (const StudyClaim& claim : sweep->claims)
    for (const Measurement& m : claim.statement.measurements()) check_metric(m.metric, claim.where);
  return sweep->claims;
}

std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims, ListResults& results) {
  std::vector<JudgedClaim> judged = judge(
      claims, results.list().seeds.size(), [&](const Measurement& m) -> auto& {
        return results.of(m);
      });
  for (JudgedClaim& one : judged)
    for (const Measurement& m : one.claim->statement.measurements()) {
      if (const std::string best = results.best_text(m); !best.empty()) {
        if (std::ranges::count(one.best, best) == 0) one.best.push_back(best);
      } else if (results.is_absent(m) && one.nothing.empty()) {
        one.verdict = Verdict::absent;
        one.nothing = subject_of(m);
      }
    }
  return judged;
}

std::string study_json(const Sweep& sweep,
                       const RunList& list,
                       const std::vector<std::size_t>& rows,
                       const SweepOutcome& outcome) {
  Json json{{"format", kStudyFormat},
            {"format_version", 1},
            {"name", sweep.name},
            {"question", sweep.question},
            {"runs", Json::array()},
            {"tables", Json::array()},
            {"claims", Json::array()}};
  for (const std::size_t i : rows) {
    const ListedRun& row = list.rows[i];
    json["runs"].push_back({{"part", row.part},
                            {"variant", row.variant},
                            {"seed", row.seed},
                            {"run_id", row.run_id},
                            {"path", row.below},
                            {"state", to_string(row_status(list, row).state)}});
  }
  for (const StudyTable& table : outcome.tables) json["tables"].push_back(json_of(table));
  json["claims"] = claims_json(outcome.claims);
  return json.dump(2) + "\n";
}

bool is_study_json(const std::filesystem::path& file) {
  try {
    return read_json<Json>(read_file(file)).value("format", "") == kStudyFormat;
  } catch (const DataError&) {
    return false;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace softalign
