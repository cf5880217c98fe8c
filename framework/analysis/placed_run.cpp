#include "framework/analysis/placed_run.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/finished_run.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/analysis/seeds.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

// The part of an identity that is the data.
std::string task_of(const PlacedRun& run) {
  const Json json = read_json<Json>(run.configuration);
  return json.is_object() && json.contains("task") ? json["task"].dump() : "";
}

// What its test sentences are sorted by, and its rows of attention stand for, where the spec says so.
std::string conventions_of(const PlacedRun& run) {
  const Json json = read_json<Json>(run.configuration);
  std::string text;
  for (const char* option : {"/evaluate/length_unit", "/evaluate/row_aligns"})
    if (const Json::json_pointer place(option); json.is_object() && json.contains(place))
      text += option + json.at(place).dump();
  return text;
}

// By what they differ in; by the names of their runs where that would be a digest, and the names tell all apart.
std::vector<std::string> legends_of(const std::vector<PlacedRun*>& runs,
                                    const std::vector<std::string>& configurations) {
  std::vector<std::string> legends = legend_names(configurations);
  const auto has_digest = [](const std::string& text) {
    return text.find(kFileDigest) != text.npos;
  };
  if (std::ranges::none_of(legends, has_digest)) return legends;
  std::map<std::string, std::set<std::string>> named;  // configurations, by a run's name
  for (const PlacedRun* run : runs) named[run->summary.name].insert(run->configuration);
  if (named.size() != configurations.size()) return legends;
  for (const auto& [name, of_name] : named)
    legends[usize(std::ranges::find(configurations, *of_name.begin()) - configurations.begin())] =
        name;
  return legends;
}

}  // namespace

std::vector<RunSummary> summaries_of(const std::vector<GivenRun>& runs,
                                     const std::vector<std::string>& folders) {
  std::map<fs::path, RunSummary> known;
  for (const std::string& folder : folders)
    if (is_folder(folder))
      for (RunSummary& summary : index_runs(folder).runs)
        known.emplace(normal_path(summary.run.root), std::move(summary));
  std::vector<RunSummary> summaries;
  for (const GivenRun& run : runs) {
    const auto found = known.find(run.place);
    summaries.push_back(found != known.end()   ? found->second
                        : is_folder(run.place) ? summarize_run({run.place})
                                               : summarize_record(run.place));
  }
  return summaries;
}

std::vector<PlacedRun> placed_runs(const std::vector<GivenRun>& runs,
                                   const std::vector<std::string>& folders) {
  std::vector<PlacedRun> placed;
  std::map<std::string, std::size_t> kept;  // by run ID
  std::vector<RunSummary> summaries = summaries_of(runs, folders);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PlacedRun& run = placed.emplace_back();
    run.given = runs[i];
    run.summary = std::move(summaries[i]);
    try {
      run.configuration = without_seed(run.summary.identity, run.seed);
      const auto [first, is_new] = kept.try_emplace(run.summary.run_id, i);
      PlacedRun& other = placed[first->second];
      run.twin = !is_new && (other.summary.complete || !run.summary.complete);
      if (is_new || run.twin) continue;
      other.twin = true;
      first->second = i;
    } catch (const DataError&) {  // it has no configuration
    }
  }
  return placed;
}

void place_by_test_set(std::vector<PlacedRun>& runs) {
  std::map<std::string, std::string> test_of_task;
  for (const PlacedRun& run : runs)
    if (!run.summary.test_set.empty()) test_of_task.emplace(task_of(run), run.summary.test_set);
  std::vector<std::vector<PlacedRun*>> panels;  // in the order of their first runs
  std::map<std::string, std::size_t> numbers;
  for (PlacedRun& run : runs) {
    if (run.configuration.empty()) continue;
    std::string key = run.summary.test_set;
    if (const std::string task = task_of(run); key.empty())
      key = test_of_task.contains(task) ? test_of_task.at(task) : task;
    const std::size_t number =
        numbers.emplace(key + conventions_of(run), panels.size()).first->second;
    if (number == panels.size()) panels.emplace_back();
    panels[number].push_back(&run);
  }
  std::map<std::string, Index> named;  // panels, by name
  for (const std::vector<PlacedRun*>& together : panels) {
    std::vector<std::string> names, configurations;
    for (const PlacedRun* run : together) {
      if (std::ranges::count(names, run->summary.name) == 0) names.push_back(run->summary.name);
      if (std::ranges::count(configurations, run->configuration) == 0)
        configurations.push_back(run->configuration);
    }
    const auto series = legends_of(together, configurations);
    std::string panel = fmt::format("{}", fmt::join(names, ", "));
    if (const Index number = ++named[panel]; number > 1) panel += fmt::format(" ({})", number);
    for (PlacedRun* run : together) {
      const auto c = std::ranges::find(configurations, run->configuration) - configurations.begin();
      run->series = series[usize(c)].empty() ? run->summary.name : series[usize(c)];
      if (panels.size() > 1) run->panel = panel;
    }
  }
}

std::string watched_metric(const std::vector<PlacedRun>& runs) {
  std::set<std::string> watched;
  for (const PlacedRun& run : runs) {
    const Json json = read_json<Json>(run.configuration);
    const Json::json_pointer place("/train/early_stopping/metric");
    const bool known = json.is_object() && json.contains(place) && json.at(place).is_string();
    watched.insert(known ? json.at(place).get<std::string>() : "dev/loss");
  }
  const std::string metric = watched.size() == 1 ? *watched.begin() : "dev/loss";
  return metric.starts_with("dev/") && higher_is_better(metric.substr(4)) ? metric : "dev/loss";
}

std::vector<std::string> series_of(const std::vector<PlacedRun>& runs) {
  std::vector<std::string> series;
  for (const PlacedRun& run : runs)
    if (std::ranges::count(series, run.series) == 0) series.push_back(run.series);
  return series;
}

std::vector<std::string> ranked_series(const std::vector<PlacedRun>& runs,
                                       const std::string& metric,
                                       bool planned) {
  const std::string name = metric.substr(4);
  const double sign = *higher_is_better(name) ? -1 : 1;
  std::map<std::string, std::vector<double>> values;
  for (const PlacedRun& run : runs)
    if (const double value = selected_value(run.summary, name);
        !run.twin && std::isfinite(value) &&
        (!planned || run.summary.status.state == RunState::complete))
      values[run.series].push_back(value);
  std::vector<std::string> series = series_of(runs);
  std::ranges::stable_sort(series, {}, [&](const std::string& one) {
    const auto found = values.find(one);
    if (found == values.end()) return std::pair(Index{0}, 0.0);
    const Seeds seeds = over_seeds(found->second);
    return std::pair(planned ? -seeds.count : Index{-1}, sign * seeds.mean);
  });
  return series;
}

}  // namespace softalign
