#include "framework/analysis/panel.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/differences.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/record/folder/runs_below.hpp"

namespace softalign {
namespace {

// Fills panel.runs and panel.series. Returns the position of each run's series, from 1.
std::vector<Index> finish(Panel& panel,
                          const std::vector<Run>& runs,
                          const std::vector<std::string>& series,
                          const DetailedSeries& detailed,
                          bool tested,
                          std::vector<LeftOut>& left_out) {
  std::map<std::string, std::vector<const Run*>> of_series;
  for (const Run& run : runs)
    if (run.panel == panel.name && !run.twin && run.complete && run.fault.empty())
      of_series[run.series].push_back(&run);
  std::vector<Index> places;
  for (const std::string& one : series) {
    const std::size_t before = panel.runs.size();
    for (const Run* run : of_series[one]) {
      try {
        Run made = *run;
        demand_complete(made);
        if (!detailed.contains({panel.name, one}))
          ;  // the summary is enough
        else if (tested && panel.series.size() < kTestedUnasked)
          read_sentences(made);
        else
          read_lengths(made);
        panel.runs.push_back(std::move(made));
        places.push_back(std::ssize(panel.series) + 1);
      } catch (const Error& error) {
        left_out.push_back({run->path.string(), error.what()});
      }
    }
    if (panel.runs.size() > before) panel.series.push_back(one);
  }
  return places;
}

}  // namespace

Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               const DetailedSeries& detailed,
               bool ordered,
               const BootstrapOptions& draws,
               std::vector<LeftOut>& left_out) {
  Panel panel;
  panel.name = name;
  const std::vector<Index> places =
      finish(panel, runs, series, detailed, draws.resamples > 0, left_out);
  if (panel.runs.empty()) return panel;
  // The baseline is chosen before the runs are sorted by series, because that order may depend on their scores.
  const Comparison asked = compare(panel.runs, {});
  const std::string baseline = asked.groups[asked.baseline].runs.front()->configuration;
  for (std::size_t i = 0; i < panel.runs.size(); ++i) panel.runs[i].argument = places[i];
  try {
    Comparison comparison = compare(panel.runs, main_metrics(panel.runs));
    const auto is_baseline = [&](const ComparedGroup& group) {
      return group.runs.front()->configuration == baseline;
    };
    if (!ordered)
      comparison.baseline =
          usize(std::ranges::find_if(comparison.groups, is_baseline) - comparison.groups.begin());
    if (draws.resamples > 0 && comparison.groups.size() > 1 &&
        comparison.groups.size() <= kTestedUnasked)
      comparison.against = against_baseline(comparison, draws);
    if (comparison.groups.size() != panel.series.size())
      throw SpecError("runs of one series differ in more than the seed");
    std::vector<ComparedGroup> read;
    for (std::size_t g = 0; g < panel.series.size(); ++g)
      if (detailed.contains({name, panel.series[g]})) read.push_back(comparison.groups[g]);
    const auto first = panel.series.begin();
    panel.tables = length_tables(read, {first, first + std::ssize(read)}, draws);
    panel.comparison = std::move(comparison);
  } catch (const SpecError& error) {  // for example two signatures in one column
    left_out.push_back({name, error.what()});
  }
  return panel;
}

DetailedSeries detailed_series(const std::vector<Run>& runs,
                               const std::vector<std::string>& series,
                               std::size_t most) {
  std::map<std::string, std::map<std::string, std::size_t>> panels;  // runs of each series
  for (const Run& run : runs)
    if (!run.twin) ++panels[run.panel][run.series];
  DetailedSeries detailed;
  for (auto& [panel, counts] : panels) {
    std::size_t sum = 0;
    for (const std::string& one : series) {
      const auto found = counts.find(one);
      if (found == counts.end()) continue;
      if (sum > 0 && sum + found->second > most) break;
      sum += found->second;
      detailed.emplace(panel, one);
    }
  }
  return detailed;
}

namespace {

// Returns the length buckets of all runs.
std::vector<std::string> buckets_of(const std::vector<const Run*>& runs) {
  std::map<std::pair<Index, Index>, std::string> labels;
  for (const Run* run : runs)
    for (std::size_t r = 1; r < run->by_length.rows.size(); ++r) {  // row 0 is "all"
      const LengthRange range = length_range(run->by_length.rows[r]);
      labels.emplace(std::pair(range.shortest, range.longest), run->by_length.rows[r]);
    }
  std::vector<std::string> buckets = {"all"};
  for (const auto& [range, label] : labels) buckets.push_back(label);
  return buckets;
}

// Returns the number of sentences of a bucket that a run was tested on.
Index sentences_of(const Run& run, const std::string& bucket, const LengthRange& lengths) {
  const auto& rows = run.by_length.rows;
  const auto row = std::ranges::find(rows, bucket) - rows.begin();
  return row < std::ssize(rows)
             ? run.by_length.sentences.at(usize(row))
             : std::ssize(run.results.of_length(lengths.shortest, lengths.longest));
}

// Returns the sentences of a bucket if they are the same for all seeds, else nothing.
std::vector<Index> shared_sentences(const std::vector<const Run*>& runs,
                                    const LengthRange& lengths) {
  const StoredResults& first = runs.front()->results;
  for (const Run* run : runs)
    if (run->test_set != runs.front()->test_set ||
        run->results.source_lengths != first.source_lengths ||
        run->results.clusters != first.clusters)
      return {};
  return first.of_length(lengths.shortest, lengths.longest);
}

// Returns a run's value, and whether its counts reproduce it: otherwise an interval from the counts would not fit it.
std::pair<double, bool> checked_value(const Run& run,
                                      const std::string& name,
                                      const Metric* metric,
                                      const std::string& bucket,
                                      const LengthRange& lengths) {
  if (!metric || run.results.counts.sentences() == 0 || !is_measured_alike(run, name))
    return {(lengths.all() ? run.test : run.by_length).find(bucket, name), false};
  const double value = value_of(run, metric_name(name), lengths);
  const double counted =
      run.results.value(name, run.results.of_length(lengths.shortest, lengths.longest));
  if (std::isnan(counted)) return {counted, true};
  return {value, is_same_number(value, counted)};
}

}  // namespace

LengthCell length_cell(const std::vector<const Run*>& runs,
                       const std::string& metric,
                       const std::string& bucket,
                       const BootstrapOptions& draws) {
  const LengthRange lengths = bucket == "all" ? LengthRange{} : length_range(bucket);
  const auto known_metric = metric_named(metric);
  LengthCell cell;
  std::vector<double> known;
  bool sure = true;
  for (const Run* run : runs) {
    const Index sentences = sentences_of(*run, bucket, lengths);
    cell.sentences = run == runs.front() ? sentences : std::min(cell.sentences, sentences);
    cell.most = std::max(cell.most, sentences);
    const auto [value, agrees] = checked_value(*run, metric, known_metric.get(), bucket, lengths);
    cell.seeds.push_back(value);
    cell.recorded |= std::ranges::count(run->by_length.rows, bucket) > 0;
    sure &= agrees;
    if (!std::isnan(value)) known.push_back(value);
  }
  cell.over_seeds = over_seeds(known);
  const std::vector<Index> sentences = shared_sentences(runs, lengths);
  if (!sure || known.size() < runs.size() || sentences.size() < 2 || draws.resamples == 0)
    return cell;
  SystemResults results;
  const StoredResults& first = runs.front()->results;
  for (const Run* run : runs)
    results.seeds.push_back({&run->results.counts.layout(), rows_of(run->results.counts)});
  results.test_set = runs.front()->test_set;
  results.clusters = first.clusters;
  results.skipped = first.outside(lengths.shortest, lengths.longest);
  const MetricFacts facts = known_metric->about();
  const auto within = [&](double x) { return std::clamp(x, facts.least, facts.most); };
  cell.interval = score_estimate(*known_metric, results, {.resamples = draws.resamples}).interval;
  if (!std::isnan(cell.interval.low))
    cell.interval = {within(cell.interval.low), within(cell.interval.high)};
  return cell;
}

std::vector<LengthTable> length_tables(const std::vector<ComparedGroup>& groups,
                                       const std::vector<std::string>& names,
                                       const BootstrapOptions& draws) {
  std::vector<const Run*> runs;
  for (const ComparedGroup& group : groups)
    runs.insert(runs.end(), group.runs.begin(), group.runs.end());
  const std::vector<std::string> buckets = buckets_of(runs);
  std::vector<LengthTable> tables;
  for (const auto& [name, facts] : metrics_of(runs)) {
    LengthTable& table = tables.emplace_back(LengthTable{name, facts, buckets, {}});
    for (const std::string& row : names)
      table.rows.push_back({row, std::vector<LengthCell>(buckets.size())});
  }
  Workers workers(std::max(1, draws.threads));
  const auto across = static_cast<Index>(groups.size() * buckets.size());
  workers.run(std::ssize(tables) * across, [&](Index i) {
    LengthTable& table = tables[usize(i / across)];
    const auto g = usize(i % across) / buckets.size(), b = usize(i % across) % buckets.size();
    table.rows[g].cells[b] = length_cell(groups[g].runs, table.metric, buckets[b], draws);
  });
  return tables;
}

namespace {

using Json = nlohmann::json;

// Returns the task of a run's configuration as JSON, which identifies its data.
std::string task_of(const Run& run) {
  const Json json = read_json<Json>(run.configuration);
  return json.is_object() && json.contains("task") ? json["task"].dump() : "";
}

// Returns the options of a spec that change how test sentences are grouped and what rows of attention mean.
std::string conventions_of(const Run& run) {
  const Json json = read_json<Json>(run.configuration);
  std::string text;
  for (const char* option : {"/evaluate/length_unit", "/evaluate/row_aligns"})
    if (const Json::json_pointer place(option); json.is_object() && json.contains(place))
      text += option + json.at(place).dump();
  return text;
}

// Returns legends from the differences between configurations; run names instead if a difference would be shown as a
// digest and each configuration has its own name.
std::vector<std::string> legends_of(const std::vector<Run*>& runs,
                                    const std::vector<std::string>& configurations) {
  std::vector<std::string> legends = legend_names(configurations);
  const auto has_digest = [](const std::string& text) {
    return text.find(kFileDigest) != text.npos;
  };
  if (std::ranges::none_of(legends, has_digest)) return legends;
  std::map<std::string, std::set<std::string>> named;  // configurations by run name
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
  std::vector<std::vector<Run*>> panels;  // ordered by their first runs
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
  std::map<std::string, Index> named;  // number of panels by name
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
  std::set<std::string> seen;
  for (const Run& run : runs)
    if (seen.insert(run.series).second) series.push_back(run.series);
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
