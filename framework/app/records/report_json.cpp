#include "framework/app/records/report_json.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/app/records/comparison_report.hpp"
#include "framework/app/records/runs.hpp"
#include "framework/app/sweeps/sweep_list.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/report.hpp"

namespace softalign::app {
namespace {

Json json_of(const MetricFacts& facts) {
  Json json = {{"title", facts.title},
               {"units", facts.units},
               {"higher_is_better", nullptr},
               {"least", facts.least},
               {"most", facts.most},
               {"main", facts.main},
               {"searched", facts.searched},
               {"signature", facts.signature},
               {"baseline_of", facts.baseline_of}};
  if (facts.higher_is_better) json["higher_is_better"] = *facts.higher_is_better;
  return json;
}

Json json_of(const LengthTable& table, const std::vector<std::string>& series) {
  Json json = {{"metric", table.metric},
               {"buckets", table.buckets},
               {"sentences", table.sentences},
               {"rows", Json::array()}};
  for (std::size_t g = 0; g < table.cells.size(); ++g) {
    Json cells = Json::array();
    for (const LengthCell& cell : table.cells[g])
      cells.push_back({{"mean", cell.over_seeds.count > 0 ? cell.over_seeds.mean : kUndefined},
                       {"sd", cell.over_seeds.count > 1 ? cell.over_seeds.deviation : kUndefined},
                       {"n", cell.over_seeds.count},
                       {"seeds", cell.seeds},
                       {"low", cell.low},
                       {"high", cell.high}});
    json["rows"].push_back({{"series", series[g]}, {"cells", std::move(cells)}});
  }
  return json;
}

Json json_of(const PlacedRun& run) {
  Json json = {{"place", run.given.place.string()},
               {"run_id", run.summary.run_id},
               {"name", run.summary.name},
               {"seed", run.seed},
               {"state", run.summary.state()},
               {"fault", run.summary.fault},
               {"panel", run.panel},
               {"series", run.series},
               {"complete", run.summary.complete},
               {"last_update", run.summary.status.last_update},
               {"selected_update", run.summary.selected},
               {"test", Json::object()},
               {"dev", Json::object()}};
  for (std::size_t m = 0; m < run.summary.test.metrics.size(); ++m) {
    const std::string& name = run.summary.test.metrics[m];
    json["test"][name] = run.summary.test.at(0, m);
    json["dev"][name] = selected_value(run.summary, name);
  }
  return json;
}

// Of single sentences, whose alignments a report shows.
Json scores_of_sentences(const StoredResults& results) {
  constexpr Index kMost = 1000;
  Json json = Json::object();
  for (const char* metric : {"loss", "token_accuracy", "free_running_accuracy"}) {
    Json values = Json::array();
    for (Index i = 0; i < std::min(kMost, results.counts.sentences()); ++i)
      values.push_back(results.value(metric, {i}));
    json[metric] = std::move(values);
  }
  return json;
}

Json json_of(const Panel& panel, const PairedTestOptions& draws) {
  Json json = {{"name", panel.name}, {"series", panel.series}};
  if (!panel.comparison) return json;
  json["comparison"] = comparison_json(*panel.comparison, {}, draws);
  json["tables"] = Json::array();
  for (const LengthTable& table : panel.tables)
    json["tables"].push_back(json_of(table, panel.series));
  return json;
}

// Of a sweep: what its file claims now. A claim that cannot be read or judged is a problem of the report.
Json judged_claims(Report& report) {
  SweepArguments sweep;
  sweep.file = report.list->folder.string();
  try {
    const std::vector<StudyClaim> claims = claims_of(sweep, *report.list);
    return claims_json(judge(claims, *report.list, *report.status));
  } catch (const Error&) {  // whose words may quote a file that a stranger's plan names
    report.problems.push_back({report.list->file.string(),
                               "its claims cannot be judged; softalign sweep status says why"});
    return Json::array();
  }
}

// As the runs know them, and of those that none has as this program does.
Json metric_facts_json(const std::vector<Panel>& panels) {
  std::map<std::string, MetricFacts> metrics;
  for (const Panel& panel : panels)
    for (const FinishedRun& run : panel.runs)
      for (const auto& [name, stored] : run.test) metrics.emplace(name, stored.facts);
  for (const NamedMetric& known : default_metrics())
    metrics.emplace(known.name, known.metric->facts());
  Json json = Json::object();
  for (const auto& [name, facts] : in_order(metrics)) json[name] = json_of(facts);
  return json;
}

}  // namespace

Json report_json(const std::vector<std::string>& places,
                 const std::string& results,
                 const PairedTestOptions& draws) {
  Report report = make_report(places, given_runs(places, results), draws);
  Json json = {{"format", "softalign-report"},
               {"format_version", 1},
               {"kind", report.kind},
               {"name", report.name},
               {"study", nullptr},
               {"series", report.series},
               {"ranked_by", report.ranked_by},
               {"resamples", draws.resamples},
               {"metrics", metric_facts_json(report.panels)},
               {"runs", Json::array()},
               {"panels", Json::array()},
               {"list", nullptr}};
  if (!report.study.empty()) json["study"] = read_json<Json>(report.study);
  std::map<std::string, Json> scores;  // by run id
  for (const Panel& panel : report.panels) {
    json["panels"].push_back(json_of(panel, draws));
    for (const FinishedRun& run : panel.runs) scores[run.run_id] = scores_of_sentences(run.results);
  }
  for (const PlacedRun& run : report.runs) {
    json["runs"].push_back(json_of(run));
    if (const auto found = scores.find(run.summary.run_id); found != scores.end())
      json["runs"].back()["sentences"] = found->second;
  }
  if (report.list) {
    json["list"] = list_json(*report.list, &*report.status);
    json["list"]["claims"] = judged_claims(report);
  }
  json["problems"] = Json::array();
  for (const LeftOut& problem : report.problems)
    json["problems"].push_back({{"place", problem.place}, {"text", problem.why}});
  return json;
}

}  // namespace softalign::app
