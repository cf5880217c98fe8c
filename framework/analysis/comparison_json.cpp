#include "framework/analysis/comparison_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "framework/base/stored.hpp"

namespace softalign {
namespace {

JsonObject json_of(const Seeds& seeds, const char* count) {
  JsonObject json = {{"mean", nullptr}, {"sd", nullptr}, {count, seeds.count}};
  if (seeds.count > 0) json["mean"] = seeds.mean;
  if (seeds.count > 1) json["sd"] = seeds.deviation;
  return json;
}

JsonObject json_of(const Interval& interval) {
  return {{"mean", interval.mean}, {"ci", interval.half_width}};
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
                        const PairedTestOptions& draws) {
  JsonObject json = {{"metric", comparison.columns[against.column].name.text},
                     {"group", against.group + 1},
                     {"over_seeds", json_of(against.difference, "pairs")}};
  if (!against.untested.empty()) json["untested"] = against.untested;
  if (!against.test) return json;
  const PairedTest& test = *against.test;
  json["on_test_set"] = {{"difference", test.difference},
                         {"of_difference", json_of(test.of_difference)},
                         {"of_baseline", json_of(test.baseline)},
                         {"of_group", json_of(test.system)},
                         {"randomisation",
                          {{"trials", draws.trials},
                           {"p", test.p_randomisation},
                           {"p_holm", against.p_randomisation}}},
                         {"bootstrap",
                          {{"resamples", draws.resamples},
                           {"p", test.p_bootstrap},
                           {"p_holm", against.p_bootstrap},
                           {"p_sacrebleu", test.p_sacrebleu}}}};
  return json;
}

}  // namespace

JsonObject comparison_json(const Comparison& comparison,
                           const std::vector<LeftOut>& left_out,
                           const PairedTestOptions& draws) {
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
