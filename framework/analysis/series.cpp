#include "framework/analysis/series.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/runs_below.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

// The part of an identity that is the data.
std::string task_of(const Run& run) {
  const Json json = read_json<Json>(run.configuration);
  return json.is_object() && json.contains("task") ? json["task"].dump() : "";
}

// What its test sentences are sorted by, and its rows of attention stand for, where the spec says so.
std::string conventions_of(const Run& run) {
  const Json json = read_json<Json>(run.configuration);
  std::string text;
  for (const char* option : {"/evaluate/length_unit", "/evaluate/row_aligns"})
    if (const Json::json_pointer place(option); json.is_object() && json.contains(place))
      text += option + json.at(place).dump();
  return text;
}

// By what they differ in; by the names of their runs where that would be a digest, and the names tell all apart.
std::vector<std::string> legends_of(const std::vector<Run*>& runs,
                                    const std::vector<std::string>& configurations) {
  std::vector<std::string> legends = legend_names(configurations);
  const auto has_digest = [](const std::string& text) {
    return text.find(kFileDigest) != text.npos;
  };
  if (std::ranges::none_of(legends, has_digest)) return legends;
  std::map<std::string, std::set<std::string>> named;  // configurations, by a run's name
  for (const Run* run : runs) named[run->name].insert(run->configuration);
  if (named.size() != configurations.size()) return legends;
  for (const auto& [name, of_name] : named)
    legends[usize(std::ranges::find(configurations, *of_name.begin()) - configurations.begin())] =
        name;
  return legends;
}

}  // namespace

std::vector<Run> named_runs(const std::vector<std::string>& arguments, const std::string& results) {
  std::map<fs::path, Run> known;
  for (const std::string& folder : arguments)
    if (is_folder(folder))
      for (Run& run : index_runs(folder).runs) known.emplace(normal_path(run.path), std::move(run));
  std::vector<Run> runs;
  const std::vector<std::vector<fs::path>> paths = find_runs(arguments, results);
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (const fs::path& path : paths[i]) {
      const auto found = known.find(path);
      Run& run = runs.emplace_back(found != known.end() ? found->second : read_run(path));
      run.path = path;
      run.argument = static_cast<Index>(i);
      try {
        read_configuration(run);
      } catch (const DataError&) {
      }
    }
  return runs;
}

void mark_twins(std::vector<Run>& runs) {
  std::map<std::string, Run*> first;  // by run ID
  for (Run& run : runs) {
    if (run.configuration.empty()) continue;
    const auto [kept, is_new] = first.try_emplace(run.run_id, &run);
    Run& other = *kept->second;
    run.twin = !is_new && (other.complete || !run.complete);
    if (is_new || run.twin) continue;
    other.twin = true;
    kept->second = &run;
  }
}

void place_by_test_set(std::vector<Run>& runs) {
  std::map<std::string, std::string> test_of_task;
  for (const Run& run : runs)
    if (!run.test_set.empty()) test_of_task.emplace(task_of(run), run.test_set);
  std::vector<std::vector<Run*>> panels;  // in the order of their first runs
  std::map<std::string, std::size_t> numbers;
  for (Run& run : runs) {
    if (run.configuration.empty()) continue;
    std::string key = run.test_set;
    if (const std::string task = task_of(run); key.empty())
      key = test_of_task.contains(task) ? test_of_task.at(task) : task;
    const std::size_t number =
        numbers.emplace(key + conventions_of(run), panels.size()).first->second;
    if (number == panels.size()) panels.emplace_back();
    panels[number].push_back(&run);
  }
  std::map<std::string, Index> named;  // panels, by name
  for (const std::vector<Run*>& together : panels) {
    std::vector<std::string> names, configurations;
    for (const Run* run : together) {
      if (std::ranges::count(names, run->name) == 0) names.push_back(run->name);
      if (std::ranges::count(configurations, run->configuration) == 0)
        configurations.push_back(run->configuration);
    }
    const auto series = legends_of(together, configurations);
    std::string panel = fmt::format("{}", fmt::join(names, ", "));
    if (const Index number = ++named[panel]; number > 1) panel += fmt::format(" ({})", number);
    for (Run* run : together) {
      const auto c = std::ranges::find(configurations, run->configuration) - configurations.begin();
      run->series = series[usize(c)].empty() ? run->name : series[usize(c)];
      if (panels.size() > 1) run->panel = panel;
    }
  }
}

std::string watched_metric(const std::vector<Run>& runs) {
  std::set<std::string> watched;
  for (const Run& run : runs) {
    const Json json = read_json<Json>(run.configuration);
    const Json::json_pointer place("/train/early_stopping/metric");
    const bool known = json.is_object() && json.contains(place) && json.at(place).is_string();
    watched.insert(known ? json.at(place).get<std::string>() : "dev/loss");
  }
  const std::string metric = watched.size() == 1 ? *watched.begin() : "dev/loss";
  return metric.starts_with("dev/") && higher_is_better(metric.substr(4)) ? metric : "dev/loss";
}

std::vector<std::string> series_of(const std::vector<Run>& runs) {
  std::vector<std::string> series;
  for (const Run& run : runs)
    if (std::ranges::count(series, run.series) == 0) series.push_back(run.series);
  return series;
}

std::vector<std::string> ranked_series(const std::vector<Run>& runs,
                                       const std::string& metric,
                                       bool planned) {
  const std::string name = metric.substr(4);
  const double sign = *higher_is_better(name) ? -1 : 1;
  std::map<std::string, std::vector<double>> values;
  for (const Run& run : runs)
    if (const double value = selected_value(run, name);
        !run.twin && std::isfinite(value) && (!planned || run.status.state == RunState::complete))
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
