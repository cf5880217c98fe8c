#include "framework/analysis/finished_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "framework/analysis/metric_name.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/base/text.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

std::map<std::string, StoredMetric> metrics_of(const MetricTable& totals) {
  std::map<std::string, StoredMetric> metrics;
  if (totals.rows.empty()) return metrics;
  for (std::size_t m = 0; m < totals.metrics.size(); ++m)
    metrics[totals.metrics[m]] = {totals.at(0, m), totals.facts[m]};
  return metrics;
}

}  // namespace

std::map<std::string, StoredMetric> test_metrics(const Record& record) {
  return metrics_of(read_totals(record));
}

std::vector<NamedFacts> in_order(const std::map<std::string, MetricFacts>& metrics) {
  std::vector<NamedFacts> ordered(metrics.begin(), metrics.end());
  std::ranges::stable_sort(ordered, {}, [](const NamedFacts& one) {
    return std::tuple(one.second.searched, one.second.order);
  });
  return ordered;
}

std::string without_seed(const std::string& identity, Index& seed) {
  Json json = read_json<Json>(identity);
  const auto found = json.is_object() ? json.find("seed") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_number_integer())
    throw DataError("its identity is damaged: no JSON object with a seed");
  seed = found->get<Index>();
  json.erase(found);
  return json.dump();
}

FinishedRun finished_run(const RunSummary& summary,
                         const std::filesystem::path& place,
                         const std::vector<std::string>& series) {
  if (!summary.fault.empty() && summary.fault_state == RunState::unreadable)
    throw MachineError("{}", summary.fault);
  if (!summary.fault.empty()) throw DataError("{}", summary.fault);
  if (summary.status.state == RunState::complete && !summary.complete)
    throw DataError(
        "{}: the run is complete, but its record is not there or old; softalign recover {}",
        place.string(),
        shell_file(place.string()));
  if (!summary.complete)
    throw DataError("{}: the run is {}, so it is left out", place.string(), summary.state());
  FinishedRun run;
  run.place = place;
  run.name = summary.name;
  run.run_id = summary.run_id;
  run.identity = summary.identity;
  try {
    run.configuration = without_seed(run.identity, run.seed);
  } catch (const DataError& error) {
    throw DataError("{}: {}", place.string(), error);
  }
  run.test = metrics_of(summary.test);
  run.test_set = summary.test_set;
  for (const std::string& name : series) {
    if (name == "dev")
      run.series[name] = summary.dev;
    else if (const Record record(place); record.has(name + "/update"))
      run.series[name] = record.series(name);
  }
  return run;
}

void read_lengths(FinishedRun& run) {
  const Record record(run.place);
  run.by_length = read_by_length(record);
  try {
    for (std::size_t r = 1; r < run.by_length.rows.size(); ++r)  // 0 is all
      length_range(run.by_length.rows[r]);
  } catch (const SpecError&) {
    throw damaged_record(record.file(), "test/by_length/label is not as softalign writes it");
  }
}

void read_sentences(FinishedRun& run) {
  if (run.test_set.empty() || run.results.counts.sentences() > 0) return;
  run.results = read_results(Record(run.place));
  read_lengths(run);
}

bool is_same_number(double recorded, double counted) {
  return std::isnan(counted) || std::abs(recorded - counted) <= 1e-6 * std::abs(counted) + 1e-9;
}

bool is_measured_alike(const FinishedRun& run, const std::string& metric) {
  const auto recorded = run.test.find(metric);
  if (recorded == run.test.end() || run.results.counts.sentences() == 0) return true;
  if (!metric_named(metric)) return true;
  const std::vector<Index> all = run.results.of_length(0, std::numeric_limits<Index>::max());
  return is_same_number(recorded->second.value, run.results.value(metric, all));
}

}  // namespace softalign
