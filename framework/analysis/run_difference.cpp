#include "framework/analysis/run_difference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/differences.hpp"
#include "framework/base/hash.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/published/compare.hpp"

namespace softalign {
namespace {

using Texts = std::map<std::string, std::string>;

// Returns the bits of a number as an integer that increases with the number.
template <class Integer, class Number>
Integer rank_of(Number number) {
  const auto bits = std::bit_cast<Integer>(number);
  return bits < 0 ? std::numeric_limits<Integer>::min() - bits : bits;
}

template <class Integer, class Number>
std::uint64_t steps_between(Number a, Number b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  const Integer x = rank_of<Integer>(a), y = rank_of<Integer>(b);
  return static_cast<std::uint64_t>(std::max(x, y)) - static_cast<std::uint64_t>(std::min(x, y));
}

std::vector<TextDifference> text_differences(const Texts& a, const Texts& b) {
  std::set<std::string> names;
  for (const auto& [name, text] : a) names.insert(name);
  for (const auto& [name, text] : b) names.insert(name);
  std::vector<TextDifference> found;
  for (const std::string& name : names) {
    const auto in = [&](const Texts& texts) {
      const auto text = texts.find(name);
      return text == texts.end() ? std::nullopt : std::optional(text->second);
    };
    if (in(a) != in(b)) found.push_back({name, in(a), in(b)});
  }
  return found;
}

bool is_file(const TextDifference& difference) {
  return (!difference.a || is_file_digest(*difference.a)) &&
         (!difference.b || is_file_digest(*difference.b));
}

// Returns the provenance that may affect numbers, without times and without attributes that are
// compared elsewhere.
Texts environment_of(const Record& record) {
  static constexpr std::array<std::string_view, 3> kNot = {"started", "ended", "spec_sha256"};
  Texts texts;
  if (!record.has("provenance")) return texts;
  const JsonObject attributes = record.attributes("provenance");
  for (const auto& [name, value] : attributes.items())
    if (std::find(kNot.begin(), kNot.end(), name) == kNot.end() && !name.starts_with("slurm_"))
      texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  if (record.has("provenance/git_diff"))
    if (const std::string diff = record.text("provenance", "git_diff"); !diff.empty())
      texts["git_diff"] = file_digest(sha256_hex(diff));
  return texts;
}

SeriesDifference column_difference(const std::string& name,
                                   const SeriesColumns& a,
                                   const SeriesColumns& b,
                                   const std::string& column) {
  SeriesDifference difference{.name = name + "/" + column};
  const std::vector<double>&x = a.columns.at(column), &y = b.columns.at(column);
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (a.updates[i] != b.updates[j]) {
      ++(a.updates[i] < b.updates[j] ? i : j);
      continue;
    }
    ++difference.compared;
    const bool same = std::bit_cast<std::uint64_t>(x[i]) == std::bit_cast<std::uint64_t>(y[j]) ||
                      (std::isnan(x[i]) && std::isnan(y[j]));
    if (!same && difference.different++ == 0) {
      difference.first = a.updates[i];
      difference.a = x[i];
      difference.b = y[j];
      difference.ulps = ulps_between(x[i], y[j]);
    }
    ++i, ++j;
  }
  return difference;
}

std::vector<SeriesDifference> series_differences(const Record& a, const Record& b) {
  std::vector<SeriesDifference> found;
  for (const std::string& name : a.series_names()) {
    if (!b.has(name + "/update")) continue;
    const SeriesColumns x = a.series(name), y = b.series(name);
    for (const auto& [column, values] : x.columns)
      if (y.columns.contains(column) && !is_volatile(name + "/" + column))
        found.push_back(column_difference(name, x, y, column));
  }
  return found;
}

std::vector<MetricDifference> test_differences(const Record& a, const Record& b) {
  const MetricTable x = read_totals(a), y = read_totals(b);
  std::set<std::string> names(x.metrics.begin(), x.metrics.end());
  names.insert(y.metrics.begin(), y.metrics.end());
  std::vector<MetricDifference> found;
  const auto value = [](const MetricTable& table, const std::string& name) {
    const double number = table.find("all", name);
    return std::isnan(number) ? std::nullopt : std::optional(number);
  };
  for (const std::string& name : names) found.push_back({name, value(x, name), value(y, name)});
  return found;
}

void compare_hypotheses(const Record& a, const Record& b, RunDifference& difference) {
  difference.same_test_set = a.has("test/source") && b.has("test/source") &&
                             test_texts(a, "source") == test_texts(b, "source") &&
                             test_texts(a, "reference") == test_texts(b, "reference") &&
                             test_texts(a, "references") == test_texts(b, "references");
  if (!difference.same_test_set) return;
  const auto x = test_texts(a, "hypothesis"), y = test_texts(b, "hypothesis");
  difference.hypotheses = std::ssize(x);
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
    difference.other_hypotheses += x[i] != y[i];
}

// Returns the part of the record that a path is in: "alignments/cross" for "alignments/cross/weights@units", "test".
std::string part_of(const std::string& path) {
  const std::size_t first = path.find_first_of("/@");
  if (!path.starts_with("alignments/")) return path.substr(0, first);
  return path.substr(0, path.find_first_of("/@", first + 1));
}

std::vector<std::string> parts_of(const Record& record) {
  std::vector<std::string> parts;
  for (const std::string& group : record.children()) {
    if (is_volatile(group)) continue;
    if (group == "alignments")
      for (const std::string& module : record.children(group))
        parts.push_back(group + "/" + module);
    else
      parts.push_back(group);
  }
  return parts;
}

std::vector<PartDifference> part_differences(const Record& a, const Record& b) {
  std::map<std::string, PartDifference> parts;
  for (const std::string& part : parts_of(a)) parts[part].in_a = true;
  for (const std::string& part : parts_of(b)) parts[part].in_b = true;
  for (const std::string& path : compare_records(a.file(), b.file())) {
    const auto part = parts.find(part_of(path));
    if (part != parts.end()) ++part->second.different;  // other paths: names and times of the run
  }
  std::vector<PartDifference> list;
  for (auto& [name, part] : parts) {
    part.name = name;
    list.push_back(std::move(part));
  }
  return list;
}

void compare_parameter(const std::string& name,
                       const StoredParameter& a,
                       const StoredParameter& b,
                       ParameterDifference& difference) {
  ++difference.common;
  bool same = true;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::uint64_t ulps = ulps_between(a.values[i], b.values[i]);
    same &= std::bit_cast<std::uint32_t>(a.values[i]) == std::bit_cast<std::uint32_t>(b.values[i]);
    if (ulps <= difference.ulps) continue;
    difference.ulps = ulps;
    difference.largest = name;
  }
  difference.different += !same;
}

ParameterDifference parameter_differences(const Record& a, const Record& b) {
  ParameterDifference difference;
  if (!a.has("parameters") || !b.has("parameters")) return difference;
  const auto x = a.parameters(), y = b.parameters();
  for (const auto& [name, parameter] : x)
    if (const auto other = y.find(name); other != y.end() && other->second.shape == parameter.shape)
      compare_parameter(name, parameter, other->second, difference);
    else
      ++difference.others;
  for (const auto& [name, parameter] : y) difference.others += !x.contains(name);
  return difference;
}

JsonObject json_of(const std::vector<TextDifference>& differences) {
  JsonObject json = JsonObject::object();
  for (const TextDifference& difference : differences) {
    JsonObject& entry = json[difference.name] = {{"a", nullptr}, {"b", nullptr}};
    if (difference.a) entry["a"] = *difference.a;
    if (difference.b) entry["b"] = *difference.b;
  }
  return json;
}

}  // namespace

std::uint64_t ulps_between(double a, double b) { return steps_between<std::int64_t>(a, b); }
std::uint64_t ulps_between(float a, float b) { return steps_between<std::int32_t>(a, b); }

bool RunDifference::same_bits() const {
  return std::all_of(
      parts.begin(), parts.end(), [](const PartDifference& part) { return part.different == 0; });
}

RunDifference difference_of_runs(const Record& a, const Record& b) {
  RunDifference difference;
  for (TextDifference& option :
       text_differences(options_of(a.identity_json()), options_of(b.identity_json())))
    (is_file(option) ? difference.data : difference.spec).push_back(std::move(option));
  difference.environment = text_differences(environment_of(a), environment_of(b));
  difference.series = series_differences(a, b);
  difference.test = test_differences(a, b);
  compare_hypotheses(a, b, difference);
  difference.parts = part_differences(a, b);
  difference.parameters = parameter_differences(a, b);
  return difference;
}

JsonObject difference_json(const RunDifference& difference) {
  JsonObject json = {{"spec", json_of(difference.spec)},
                     {"data", json_of(difference.data)},
                     {"environment", json_of(difference.environment)},
                     {"series", JsonObject::object()},
                     {"test", JsonObject::object()},
                     {"same_test_set", difference.same_test_set}};
  for (const SeriesDifference& one : difference.series) {
    JsonObject& entry =
        json["series"][one.name] = {{"updates", one.compared}, {"different", one.different}};
    if (one.different > 0)
      entry["first"] = {{"update", one.first}, {"a", one.a}, {"b", one.b}, {"ulp", one.ulps}};
  }
  for (const MetricDifference& metric : difference.test) {
    JsonObject& entry = json["test"][metric.name] = {{"a", nullptr}, {"b", nullptr}};
    if (metric.a) entry["a"] = *metric.a;
    if (metric.b) entry["b"] = *metric.b;
  }
  if (difference.same_test_set)
    json["hypotheses"] = {{"n", difference.hypotheses}, {"different", difference.other_hypotheses}};
  for (const PartDifference& part : difference.parts)
    json["bits"][part.name] = {
        {"in_a", part.in_a}, {"in_b", part.in_b}, {"different", part.different}};
  const ParameterDifference& parameters = difference.parameters;
  json["parameters"] = {{"common", parameters.common},
                        {"different", parameters.different},
                        {"others", parameters.others},
                        {"largest_ulp", parameters.ulps},
                        {"largest", parameters.largest}};
  json["same_bits"] = difference.same_bits();
  return json;
}

}  // namespace softalign
