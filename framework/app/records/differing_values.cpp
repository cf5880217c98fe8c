#include "framework/app/records/differing_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>

#include "framework/base/types.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/journal/drift.hpp"
#include "framework/record/published/compare.hpp"

namespace softalign::app {
namespace {

bool has_metric(const Record& record, const std::string& name) {
  return (record.has("test") && record.attribute<double>("test", name)) ||
         record.has("dev/" + name) || record.has("test/by_length/" + name);
}

// Whether all that is called so, a metric, a column that metrics are computed from or its axis, is newer than the record.
bool is_newer_name(const Record& record, const std::string& name) {
  if (metric_named(name)) return !has_metric(record, name);
  bool counted = false;
  const auto is_called_so = [&](const CountColumn& c) { return c.name == name || c.part == name; };
  for (const NamedMetric& one : default_metrics())
    if (std::ranges::any_of(one.metric->columns(), is_called_so)) {
      if (has_metric(record, one.name)) return false;
      counted = true;
    }
  return counted;
}

// Whether a value is of a metric that is newer than the record, which has it nowhere.
bool is_newer(const Record& record, const std::string& path) {
  if (path.starts_with("train/")) return false;
  constexpr std::string_view kSignature = "_signature";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find_first_of("/@", at), path.size());
    std::string name = path.substr(at, end - at);
    if (name.ends_with(kSignature)) name.resize(name.size() - kSignature.size());
    if (is_newer_name(record, name)) return true;
    at = end + 1;
  }
  return false;
}

// Whether a group names another column as its first because a newer one is before it.
bool follows_newer(const Record& record, const Record& again, const std::string& path) {
  constexpr std::string_view kSignal = "@signal";
  if (!path.ends_with(kSignal)) return false;
  const std::string group = path.substr(0, path.size() - kSignal.size());
  const auto first =
      again.has(group) ? again.attribute<std::string>(group, "signal") : std::nullopt;
  return first && is_newer(record, group + "/" + *first);
}

// Whether the numbers of a column are those of another one, at the same updates, as far as it goes.
std::optional<Index> first_difference(const SeriesColumns& first,
                                      const SeriesColumns& again,
                                      const std::string& column) {
  const auto a = first.columns.find(column), b = again.columns.find(column);
  const auto bits = [](const SeriesColumns& series, auto found, std::size_t i) {
    const double value = found == series.columns.end() ? kUndefined : found->second[i];
    return std::bit_cast<Index>(std::isnan(value) ? kUndefined : value);
  };
  for (std::size_t i = 0; i < again.updates.size(); ++i)
    if (i >= first.updates.size() || first.updates[i] != again.updates[i] ||
        bits(first, a, i) != bits(again, b, i))
      return again.updates[i];
  return std::nullopt;
}

// The first difference in each column of each series between a record and a run that was ended before,
// and what differs in what is known before training.
std::vector<std::string> differences_until(const Record& record, const Record& part) {
  std::vector<std::string> different;
  for (const std::string& name : part.series_names()) {
    const SeriesColumns again = part.series(name);
    const SeriesColumns first = record.has(name) ? record.series(name) : SeriesColumns();
    std::set<std::string> columns;
    for (const SeriesColumns* series : {&first, &again})
      for (const auto& [column, values] : series->columns) columns.insert(column);
    for (const std::string& column : columns) {
      const std::string path = name + "/" + column;
      if (is_volatile(path) || is_newer(record, path)) continue;
      if (const auto update = first_difference(first, again, column))
        different.push_back(fmt::format("{} at update {}", path, *update));
    }
  }
  for (const std::string& path : compare_records(record.file(), part.file()))
    if ((path.starts_with("data") && !is_newer(record, path)) || path == "@parameters")
      different.push_back(path);
  return different;
}

}  // namespace

std::vector<std::string> differing_values(const Record& record, const fs::path& again, bool whole) {
  const Record second(again);
  if (!whole) return differences_until(record, second);
  std::vector<std::string> different = compare_records(record.file(), again);
  std::erase_if(different, [&](const std::string& path) {
    return is_newer(record, path) || follows_newer(record, second, path);
  });
  return different;
}

}  // namespace softalign::app
