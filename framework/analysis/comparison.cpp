#include "framework/analysis/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/run.hpp"
#include "framework/base/error.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

// The option that makes a model vanilla seq2seq, and its value.
constexpr std::pair<const char*, const char*> kVanilla = {"model.attention.type", "none"};

// Orders numbers by value, and before texts.
bool comes_before(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0' && !std::isnan(number);
    return std::tuple(!is_number, is_number ? number : 0, text);
  };
  return key(a) < key(b);
}

bool comes_before(const ComparedGroup& a, const ComparedGroup& b) {
  if (a.runs.front()->argument != b.runs.front()->argument)
    return a.runs.front()->argument < b.runs.front()->argument;
  for (std::size_t i = 0; i < std::min(a.parameters.size(), b.parameters.size()); ++i) {
    if (a.parameters[i].first != b.parameters[i].first)
      return a.parameters[i].first < b.parameters[i].first;
    if (a.parameters[i].second != b.parameters[i].second)
      return comes_before(a.parameters[i].second, b.parameters[i].second);
  }
  return a.parameters.size() < b.parameters.size();
}

std::vector<ComparedGroup> groups_of(const std::vector<Run>& runs) {
  std::map<std::string, ComparedGroup> by_configuration;
  std::set<std::string> seen;  // run IDs: a run with copies in two folders counts once
  for (const Run& run : runs)
    if (seen.insert(run.run_id).second) by_configuration[run.configuration].runs.push_back(&run);
  std::vector<std::string> configurations;
  std::vector<ComparedGroup> groups;
  for (auto& [configuration, group] : by_configuration) {
    configurations.push_back(configuration);
    std::stable_sort(group.runs.begin(), group.runs.end(), [](const auto* a, const auto* b) {
      return a->argument < b->argument;
    });
    groups.push_back(std::move(group));
  }
  const std::vector<Difference> parameters = differences(configurations);
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].parameters = parameters[g];
  std::stable_sort(
      groups.begin(), groups.end(), [](const ComparedGroup& a, const ComparedGroup& b) {
        return comes_before(a, b);
      });
  for (ComparedGroup& group : groups)
    std::stable_sort(group.runs.begin(), group.runs.end(), [](const auto* a, const auto* b) {
      return a->seed < b->seed;
    });
  return groups;
}

// Returns the first group without attention, else the first group.
std::size_t baseline_of(const std::vector<ComparedGroup>& groups) {
  const auto is_vanilla = [](const ComparedGroup& group) {
    return std::ranges::count(group.parameters, std::pair<std::string, std::string>(kVanilla)) > 0;
  };
  const auto found = std::ranges::find_if(groups, is_vanilla);
  return found == groups.end() ? 0 : usize(found - groups.begin());
}

MetricFacts facts_in(const Run& run, const MetricName& name) {
  const auto at = std::ranges::find(run.test.metrics, name.metric) - run.test.metrics.begin();
  if (at < std::ssize(run.test.metrics)) return run.test.facts[usize(at)];
  const auto known = metric_named(name.metric);
  MetricFacts facts = known
                          ? known->facts()
                          : MetricFacts{.title = name.metric, .units = "", .higher_is_better = {}};
  facts.signature.clear();  // values of a series have no signature
  return facts;
}

// Returns the facts of the metric from the runs that have a value for it. Throws SpecError if signatures differ.
MetricFacts facts_of(const std::vector<ComparedGroup>& groups,
                     const MetricName& name,
                     const LengthRange& lengths) {
  const Run* first = nullptr;
  for (const ComparedGroup& group : groups)
    for (const Run* run : group.runs) {
      if (std::isnan(value_of(*run, name, lengths))) continue;
      if (!first) first = run;
      const std::string a = facts_in(*first, name).signature, b = facts_in(*run, name).signature;
      if (a == b) continue;
      const auto shown = [](const std::string& s) { return s.empty() ? "none" : s; };
      throw SpecError(
          "{}: values with different signatures are not compared: {} has {}, {} has {}; compare "
          "them apart, or leave it out with --metric",
          name.text,
          first->path.string(),
          shown(a),
          run->path.string(),
          shown(b));
    }
  return facts_in(first ? *first : *groups.front().runs.front(), name);
}

std::vector<std::string> known_metrics(const std::vector<Run>& runs) {
  std::set<std::string> names;
  for (const Run& run : runs) {
    names.insert(run.test.metrics.begin(), run.test.metrics.end());
    for (const auto& [name, values] : run.dev.columns) names.insert("dev/" + name);
    for (const auto& [series, curve] : run.curves)
      for (const auto& [name, values] : curve.columns) names.insert(series + "/" + name);
  }
  return {names.begin(), names.end()};
}

ComparisonColumn column_of(const MetricName& name,
                           const std::vector<ComparedGroup>& groups,
                           const LengthRange& lengths) {
  ComparisonColumn column;
  column.name = name;
  column.facts = facts_of(groups, name, lengths);
  std::vector<double> means;
  for (const ComparedGroup& group : groups) {
    std::vector<double> values;
    for (const Run* run : group.runs)
      if (const double value = value_of(*run, name, lengths); !std::isnan(value))
        values.push_back(value);
    column.cells.push_back(over_seeds(values));
    means.push_back(values.empty() ? kUndefined : column.cells.back().mean);
  }
  const auto ours = metric_named(name.metric);
  const std::string& signature = column.facts.signature;
  if (ours && name.series.empty() && !lengths.all() && !signature.empty() &&
      !counts_alike(ours->facts(), signature))
    throw SpecError(
        "--length: the runs' {} has the signature {}, this program would compute it as {}",
        name.text,
        signature,
        ours->facts().signature);
  if (column.facts.higher_is_better && groups.size() > 1)
    column.best = best_of(means, *column.facts.higher_is_better);
  return column;
}

void check_known(const std::vector<Run>& runs, const ComparisonColumn& column) {
  const auto empty = [](const Seeds& cell) { return cell.count == 0; };
  if (!std::all_of(column.cells.begin(), column.cells.end(), empty)) return;
  const std::vector<std::string> known = known_metrics(runs);
  const std::string plain = column.name.series.empty()
                                ? column.name.metric
                                : column.name.series + "/" + column.name.metric;
  if (std::find(known.begin(), known.end(), plain) == known.end())
    throw SpecError("--metric {}: no run has it{}", column.name.text, suggestion(plain, known));
}

}  // namespace

std::vector<MetricName> main_metrics(const std::vector<Run>& runs) {
  std::vector<const Run*> all;
  for (const Run& run : runs) all.push_back(&run);
  std::vector<MetricName> main;
  for (const auto& [name, facts] : metrics_of(all))
    if (facts.main) main.push_back(metric_name(name));
  return main;
}

std::optional<Importance> importance_of(const Comparison& comparison,
                                        const ComparisonColumn& column) {
  std::vector<Difference> settings;
  std::vector<double> values;
  for (const ComparedGroup& group : comparison.groups)
    for (const Run* run : group.runs)
      if (const double value = value_of(*run, column.name, comparison.lengths);
          std::isfinite(value)) {
        settings.push_back(group.parameters);
        values.push_back(value);
      }
  return importance_of(settings, values);
}

double value_of(const Run& run, const MetricName& name, const LengthRange& lengths) {
  if (name.series.empty() && lengths.all()) return run.test.find("all", name.metric);
  if (name.series.empty()) {
    if (std::ranges::count(run.test.metrics, name.metric) == 0 ||
        run.results.counts.sentences() == 0)
      return kUndefined;
    if (!is_measured_alike(run, name.metric)) return kUndefined;
    return run.results.value(name.metric, run.results.of_length(lengths.shortest, lengths.longest));
  }
  if (name.series == "dev") return value_of(run.dev, name);
  const auto curve = run.curves.find(name.series);
  return curve == run.curves.end() ? kUndefined : value_of(curve->second, name);
}

double value_of(const SeriesColumns& series, const MetricName& name) {
  return name.best ? best_value(series, name.metric, *higher_is_better(name.metric))
                   : last_value(series, name.metric);
}

Comparison compare(const std::vector<Run>& runs,
                   const std::vector<MetricName>& metrics,
                   const LengthRange& lengths) {
  Comparison comparison;
  comparison.lengths = lengths;
  comparison.groups = groups_of(runs);
  if (comparison.groups.empty()) return comparison;
  comparison.baseline = baseline_of(comparison.groups);
  for (const Run& run : runs)
    comparison.same_test_set &=
        run.test_set == runs[0].test_set &&
        (lengths.all() || run.results.source_lengths == runs[0].results.source_lengths);
  for (const MetricName& name : metrics) {
    comparison.columns.push_back(column_of(name, comparison.groups, lengths));
    ComparisonColumn& column = comparison.columns.back();
    check_known(runs, column);
    if (name.series.empty() && !comparison.same_test_set) column.best = -1;
  }
  const Run& first = *comparison.groups.front().runs.front();
  comparison.sentences = std::ssize(first.results.of_length(lengths.shortest, lengths.longest));
  return comparison;
}

namespace {

JsonObject json_of(const Seeds& seeds, const char* count) {
  JsonObject json = {{"mean", nullptr}, {"sd", nullptr}, {count, seeds.count}};
  if (seeds.count > 0) json["mean"] = seeds.mean;
  if (seeds.count > 1) json["sd"] = seeds.deviation;
  return json;
}

JsonObject group_json(const Comparison& comparison, std::size_t g) {
  const ComparedGroup& group = comparison.groups[g];
  JsonObject json = {
      {"group", g + 1}, {"parameters", JsonObject::object()}, {"runs", JsonObject::array()}};
  for (const auto& [path, value] : group.parameters) json["parameters"][path] = value;
  for (const Run* run : group.runs) {
    JsonObject entry = {{"run_id", run->run_id},
                        {"name", run->name},
                        {"place", run->path.string()},
                        {"seed", run->seed},
                        {"metrics", JsonObject::object()}};
    for (const ComparisonColumn& column : comparison.columns)
      entry["metrics"][column.name.text] = value_of(*run, column.name, comparison.lengths);
    json["runs"].push_back(std::move(entry));
  }
  for (const ComparisonColumn& column : comparison.columns)
    json["metrics"][column.name.text] = json_of(column.cells[g], "n");
  return json;
}

JsonObject against_json(const Comparison& comparison,
                        const AgainstBaseline& against,
                        const BootstrapOptions& draws) {
  JsonObject json = {{"metric", comparison.columns[against.column].name.text},
                     {"group", against.group + 1},
                     {"over_seeds", json_of(against.difference, "pairs")}};
  if (!against.untested.empty()) json["untested"] = against.untested;
  if (std::isnan(against.estimate.error)) return json;
  json["estimate"] = stored(against.estimate);
  json["estimate"]["resamples"] = draws.resamples;
  json["estimate"]["p_holm"] = against.p_holm;
  return json;
}

}  // namespace

JsonObject comparison_json(const Comparison& comparison,
                           const std::vector<LeftOut>& left_out,
                           const BootstrapOptions& draws) {
  JsonObject json = {{"metrics", JsonObject::array()},
                     {"groups", JsonObject::array()},
                     {"same_test_set", comparison.same_test_set}};
  for (const ComparisonColumn& column : comparison.columns) {
    JsonObject metric = {{"name", column.name.text},
                         {"units", column.facts.units},
                         {"signature", column.facts.signature},
                         {"higher_is_better", nullptr},
                         {"best_group", nullptr}};
    if (column.facts.higher_is_better) metric["higher_is_better"] = *column.facts.higher_is_better;
    if (column.best >= 0) metric["best_group"] = column.best + 1;
    if (const auto importance = importance_of(comparison, column))
      metric["importance"] = stored(*importance);
    json["metrics"].push_back(std::move(metric));
  }
  if (!comparison.lengths.all()) {
    json["lengths"] = {{"shortest", comparison.lengths.shortest}, {"longest", nullptr}};
    if (comparison.lengths.longest != std::numeric_limits<Index>::max())
      json["lengths"]["longest"] = comparison.lengths.longest;
    json["sentences"] = comparison.sentences;
  }
  for (std::size_t g = 0; g < comparison.groups.size(); ++g)
    json["groups"].push_back(group_json(comparison, g));
  if (!comparison.against.empty()) json["baseline"] = comparison.baseline + 1;
  json["against_baseline"] = JsonObject::array();
  for (const AgainstBaseline& against : comparison.against)
    json["against_baseline"].push_back(against_json(comparison, against, draws));
  json["left_out"] = JsonObject::array();
  for (const LeftOut& run : left_out)
    json["left_out"].push_back(
        {{"place", run.place}, {"why", run.why}, {"unread", run.code != ExitCode::done}});
  return json;
}

}  // namespace softalign
