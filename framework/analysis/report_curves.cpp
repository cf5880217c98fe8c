#include "framework/analysis/report_curves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "framework/analysis/run.hpp"
#include "framework/analysis/statistics.hpp"

namespace softalign {
namespace {

// The runs of one series of a panel. A curve is the mean over `runs`: only complete runs if there are any, because runs
// that were pruned or failed must not affect the mean.
struct Series {
  std::string name;
  std::vector<const Reported*> runs;
  std::vector<const Reported*> left_out;
};

std::vector<Series> series_in(const std::string& panel,
                              const std::vector<std::string>& order,
                              const std::vector<Reported>& runs) {
  std::vector<Series> all;
  for (const std::string& name : order) {
    Series series{name, {}, {}};
    for (const Reported& one : runs)
      if (one.run->panel == panel && one.run->series == name) series.runs.push_back(&one);
    const auto is_complete = [](const Reported* one) {
      return one->run->state() == to_string(RunState::complete);
    };
    const auto others = std::ranges::stable_partition(series.runs, is_complete);
    if (others.begin() != series.runs.begin()) {
      series.left_out.assign(others.begin(), others.end());
      series.runs.erase(others.begin(), others.end());
    }
    std::ranges::stable_sort(series.runs, {}, [](const Reported* one) { return one->run->seed; });
    if (!series.runs.empty()) all.push_back(std::move(series));
  }
  return all;
}

std::vector<std::string> places_of(const std::vector<const Reported*>& runs) {
  std::vector<std::string> places;
  for (const Reported* one : runs) places.push_back(one->run->path.string());
  return places;
}

// Returns the mean over seeds of the points that `points` returns for each run; null if there are none.
template <class PointsOf>
JsonObject line_json(const Series& series, const PointsOf& points) {
  std::vector<Points> runs;
  JsonObject seeds = JsonObject::array();
  for (const Reported* one : series.runs)
    if (std::optional<Points> found = points(*one)) {
      runs.push_back(std::move(*found));
      seeds.push_back(one->run->seed);
    }
  const MeanCurve curve = mean_curve(runs);
  if (curve.at.empty()) return {};
  JsonObject json = {{"series", series.name},
                     {"seeds", std::move(seeds)},
                     {"left_out", places_of(series.left_out)},
                     {"at", curve.at},
                     {"mean", curve.mean}};
  if (runs.size() > 1) {
    json["sd"] = curve.deviation;
    json["least"] = curve.least;
    json["most"] = curve.most;
    json["n"] = curve.seeds;
  }
  return json;
}

template <class PointsOf>
JsonObject lines_json(const std::vector<Series>& all, const PointsOf& points) {
  JsonObject lines = JsonObject::array();
  for (const Series& series : all)
    if (JsonObject line = line_json(series, points); !line.is_null())
      lines.push_back(std::move(line));
  return lines;
}

// Returns all columns of all series that have a finite value, except measures of speed: losses and main metrics first.
std::vector<std::string> curve_names(const std::vector<Series>& all, const JsonObject& metrics) {
  std::set<std::string> found;
  for (const Series& series : all)
    for (const std::vector<const Reported*>* runs : {&series.runs, &series.left_out})
      for (const Reported* one : *runs)
        for (const auto& [group, numbers] : one->series)
          for (const auto& [name, values] : numbers.columns)
            if (name != "wall_time" && !name.ends_with("_per_s") && !name.ends_with("_seconds") &&
                std::ranges::any_of(values, [](double v) { return std::isfinite(v); }))
              found.insert(group + "/" + name);
  std::vector<std::string> first = {"dev/loss", "train/loss"};
  for (const auto& [name, facts] : metrics.items())
    if (facts["main"] == true && facts["units"] == "percent") first.push_back("dev/" + name);
  std::erase_if(first, [&](const std::string& name) { return found.erase(name) == 0; });
  first.insert(first.end(), found.begin(), found.end());
  return first;
}

// Returns the facts of a series that is not a metric: "gradient_norm".
JsonObject facts_of_number(const std::string& name) {
  std::string title = name;
  std::ranges::replace(title, '_', ' ');
  const bool counts = name == "gradient_norm" || name == "learning_rate" || name == "tokens";
  return {{"title", title},
          {"units", ""},
          {"least", counts ? JsonObject(0) : JsonObject()},
          {"most", nullptr}};
}

// Returns the length of the longest series of a group.
Index longest_of(const std::vector<Series>& all, const std::string& group) {
  Index longest = 0;
  for (const Series& series : all)
    for (const Reported* one : series.runs)
      if (const auto found = one->series.find(group); found != one->series.end())
        longest = std::max(longest, std::ssize(found->second.updates));
  return longest;
}

JsonObject numbers_json(const std::vector<Series>& all, const JsonObject& metrics, Index smooth) {
  JsonObject curves = JsonObject::array();
  for (const std::string& name : curve_names(all, metrics)) {
    const std::string group = name.substr(0, name.find('/')),
                      metric = name.substr(group.size() + 1);
    const JsonObject facts = metrics.contains(metric) ? metrics[metric] : facts_of_number(metric);
    const auto points_of = [&](Index count) {
      return [&, count](const Reported& record) -> std::optional<Points> {
        const auto series = record.series.find(group);
        if (series == record.series.end() || !series->second.columns.contains(metric)) return {};
        const auto& updates = series->second.updates;
        const Points points{{updates.begin(), updates.end()}, series->second.columns.at(metric)};
        return count > 1 ? smoothed(points, count) : points;
      };
    };
    JsonObject lines = lines_json(all, points_of(group == "train" ? smooth : 1));
    if (lines.empty()) continue;
    const Index longest = longest_of(all, group);
    const bool has_trend = group == "train" && smooth <= 1 && longest >= 4 * kTrendPoints;
    curves.push_back({{"name", name},
                      {"split", group},
                      {"metric", metric},
                      {"title", facts["title"]},
                      {"units", facts["units"]},
                      {"least", facts["least"]},
                      {"most", facts["most"]},
                      {"lines", std::move(lines)}});
    curves.back()["trend"] =
        has_trend ? lines_json(all, points_of(longest / kTrendPoints)) : JsonObject::array();
  }
  return curves;
}

// Returns other axes of the curves: seconds and target tokens so far at updates of each series, as means over seeds.
JsonObject clocks_json(const std::vector<Series>& all) {
  JsonObject clocks = JsonObject::array();
  for (const Series& series : all) {
    std::vector<Points> seconds, tokens;
    for (const Reported* one : series.runs) {
      const auto train = one->series.find("train");
      if (train == one->series.end()) continue;
      const auto& [updates, columns] = train->second;
      const auto wall = columns.find("wall_time"), counts = columns.find("tokens");
      if (wall == columns.end() || counts == columns.end()) continue;
      Points clock{{updates.begin(), updates.end()}, wall->second}, sum{clock.at, counts->second};
      std::partial_sum(sum.values.begin(), sum.values.end(), sum.values.begin());
      seconds.push_back(std::move(clock));
      tokens.push_back(std::move(sum));
    }
    const MeanCurve time = mean_curve(seconds), seen = mean_curve(tokens);
    if (time.at.empty() || time.at != seen.at) continue;
    clocks.push_back(
        {{"series", series.name}, {"at", time.at}, {"seconds", time.mean}, {"tokens", seen.mean}});
  }
  return clocks;
}

// Returns mean and standard deviation, over the seeds of each series, of the last number of each run.
JsonObject last_json(const std::vector<Series>& all, const std::string& name) {
  JsonObject cells = JsonObject::array();
  for (const Series& series : all) {
    std::vector<double> values;
    for (const Reported* one : series.runs)
      if (const auto found = one->findings.find(name);
          found != one->findings.end() && std::isfinite(found->second.values.back()))
        values.push_back(found->second.values.back());
    const Seeds seeds = over_seeds(values);
    cells.push_back({{"series", series.name},
                     {"mean", seeds.count > 0 ? seeds.mean : kUndefined},
                     {"sd", seeds.count > 1 ? seeds.deviation : kUndefined}});
  }
  return cells;
}

JsonObject findings_json(const std::vector<Series>& all) {
  std::map<std::string, const Finding*> names;
  for (const Series& series : all)
    for (const Reported* one : series.runs)
      for (const auto& [name, found] : one->findings) names.emplace(name, &found);
  JsonObject diagnostics = JsonObject::array();
  for (const auto& [name, found] : names) {
    const auto points = [&](const Reported& record) -> std::optional<Points> {
      const auto one = record.findings.find(name);
      if (one == record.findings.end()) return {};
      const Finding& finding = one->second;
      return Points{{finding.at.begin(), finding.at.end()},
                    {finding.values.begin(), finding.values.end()}};
    };
    JsonObject json = {{"name", name},
                       {"title", found->title},
                       {"units", found->units},
                       {"along", found->along},
                       {"axis", found->axis},
                       {"lines", lines_json(all, points)}};
    if (found->along == "update") json["last"] = last_json(all, name);
    diagnostics.push_back(std::move(json));
  }
  return diagnostics;
}

}  // namespace

JsonObject curves_json(const std::string& panel,
                       const std::vector<std::string>& order,
                       const std::vector<Reported>& runs,
                       const JsonObject& metrics,
                       Index smooth) {
  const std::vector<Series> all = series_in(panel, order, runs);
  return {{"curves", numbers_json(all, metrics, smooth)},
          {"clocks", clocks_json(all)},
          {"diagnostics", findings_json(all)}};
}

MeanCurve mean_curve(const std::vector<Points>& runs) {
  constexpr double kLargest = 1e150;
  std::map<double, std::vector<double>> values;
  for (const Points& run : runs)
    for (std::size_t i = 0; i < run.at.size(); ++i)
      if (std::isfinite(run.at[i]) && std::abs(run.values[i]) < kLargest)
        values[run.at[i]].push_back(run.values[i]);
  std::vector<const std::pair<const double, std::vector<double>>*> points;
  for (const auto& point : values) points.push_back(&point);
  MeanCurve curve;
  for (const std::size_t i : thinned(points.size(), kDrawnPoints)) {
    const auto& [at, seeds] = *points[i];
    const Seeds over = over_seeds(seeds);
    const auto [least, most] = std::ranges::minmax(seeds);
    curve.at.push_back(at);
    curve.mean.push_back(over.mean);
    curve.deviation.push_back(over.count > 1 ? over.deviation : kUndefined);
    curve.least.push_back(least);
    curve.most.push_back(most);
    curve.seeds.push_back(over.count);
  }
  return curve;
}

Points smoothed(const Points& points, Index count) {
  Points known, made;
  for (std::size_t i = 0; i < points.at.size(); ++i)
    if (!std::isnan(points.values[i])) {
      known.at.push_back(points.at[i]);
      known.values.push_back(points.values[i]);
    }
  for (auto i = usize(count); i <= known.at.size(); i += usize(count)) {
    const std::vector<double> some(known.values.begin() + static_cast<std::ptrdiff_t>(i) - count,
                                   known.values.begin() + static_cast<std::ptrdiff_t>(i));
    made.at.push_back(known.at[i - 1]);
    made.values.push_back(over_seeds(some).mean);
  }
  return made;
}

}  // namespace softalign
