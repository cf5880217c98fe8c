#include "framework/launch/study.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/base/suggest.hpp"
#include "framework/config/scalar.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"
#include "framework/launch/fields.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

// A map of paths (or blocks) and values, or a list as on the command line.
std::vector<Override> read_overrides(const Value& value, const std::string& what) {
  std::vector<Override> changes;
  if (value.is_list()) {
    for (const Value& item : value.items)
      changes.push_back(parse_override(text_of(item, what), item.where));
    return changes;
  }
  for (const Value::Entry& entry : entries_of(value, what))
    changes.push_back({entry.key, false, entry.value, entry.where});
  return changes;
}

std::vector<StudyVariant> read_variants(const Value* value) {
  std::vector<StudyVariant> variants;
  if (!value) return variants;
  for (const Value::Entry& entry : entries_of(*value, "variants"))
    variants.push_back(
        {legal_name(entry.key, entry.where),
         read_overrides(entry.value, fmt::format("variant '{}'", printable(entry.key)))});
  return variants;
}

std::vector<StudyMetric> read_report(const Value* value) {
  std::vector<StudyMetric> metrics = {{"token_accuracy", {}}, {"bleu", {}}};
  if (!value) return metrics;
  Fields report(*value, "the report");
  if (const Value* const given = report.find("metrics")) {
    metrics.clear();
    for (const Value& item : items_of(*given, "metrics"))
      metrics.push_back({text_of(item, "metrics"), item.where});
  }
  report.finish();
  return metrics;
}

StudyPart read_part(const Value::Entry& entry, const std::vector<StudyVariant>& shared) {
  StudyPart part;
  part.name = legal_name(entry.key, entry.where);
  Fields fields(entry.value, fmt::format("part '{}'", part.name));
  part.title = fields.text("title", part.name);
  const Value& base = fields.get("base");
  const Value* const changes = fields.find("overrides");
  const Value* const variants = fields.find("variants");
  const Value* const report = fields.find("report");
  fields.finish();
  part.base = fs::path(base.where.file).parent_path() / text_of(base, "base");
  part.base_named_at = base.where;
  if (changes) part.changes = read_overrides(*changes, "overrides");
  part.variants = shared;
  for (StudyVariant& own : read_variants(variants)) {
    const auto same = std::find_if(part.variants.begin(),
                                   part.variants.end(),
                                   [&](const StudyVariant& v) { return v.name == own.name; });
    if (same == part.variants.end())
      part.variants.push_back(std::move(own));
    else
      *same = std::move(own);
  }
  if (part.variants.empty())
    throw SpecError("{}: part '{}' has no variants; give it some, or the whole study",
                    entry.where.str(),
                    part.name);
  part.metrics = read_report(report);
  return part;
}

std::vector<Index> read_seeds(const Value* value) {
  if (!value) return {1};
  std::vector<Index> seeds;
  for (const Value& item : items_of(*value, "seeds")) {
    seeds.push_back(integer_of(item, "seeds", at_least(0)));
    if (std::count(seeds.begin(), seeds.end(), seeds.back()) > 1)
      throw SpecError("{}: seed {} comes twice", item.where.str(), seeds.back());
  }
  if (seeds.empty()) throw SpecError("{}: no seeds; give one or more", value->where.str());
  return seeds;
}

// That what a claim speaks of is in the study.
void check_measurement(const Measurement& m, const Study& study, const Position& where) {
  std::vector<std::string> names;
  for (const StudyPart& part : study.parts) names.push_back(part.name);
  const auto part = std::find(names.begin(), names.end(), m.part);
  if (part == names.end())
    throw SpecError("{}: '{}' speaks of no part of this study{}",
                    where.str(),
                    printable(m.text, 200),
                    suggestion(m.part, names));
  const auto& variants = study.parts[static_cast<std::size_t>(part - names.begin())].variants;
  names.clear();
  for (const StudyVariant& variant : variants) names.push_back(variant.name);
  if (std::find(names.begin(), names.end(), m.variant) == names.end())
    throw SpecError("{}: '{}' speaks of no variant of its part{}",
                    where.str(),
                    printable(m.text, 200),
                    suggestion(m.variant, names));
}

StudyClaim read_claim(const Value& value, const Study& study) {
  Fields fields(value, "a claim");
  const Value& said = fields.get("claim");
  StudyClaim claim{
      Statement(text_of(said, "claim"), said.where), said.where, fields.text("because", ""), false};
  if (const Value* const expect = fields.find("expect")) {
    try {
      claim.open = to_text(*expect, one_of("holds", "open")) == "open";
    } catch (const ScalarFault& fault) {
      throw SpecError("{}: expect: {}", expect->where.str(), fault.what());
    }
  }
  fields.finish();
  if (claim.statement.measurements().empty())
    throw SpecError("{}: the claim '{}' speaks of no metric",
                    said.where.str(),
                    printable(claim.statement.text(), 200));
  for (const Measurement& measurement : claim.statement.measurements())
    check_measurement(measurement, study, said.where);
  return claim;
}

// Once all plugins are loaded.
void check_metric(const std::string& name, const Position& where) {
  const std::vector<std::string> known = result_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw SpecError(
        "{}: unknown metric '{}'{}", where.str(), printable(name), suggestion(name, known));
}

StudyRun plan_run(const StudyPart& part,
                  const StudyVariant& variant,
                  Index seed,
                  const std::vector<Override>& overrides,
                  const fs::path& folder,
                  const LoadSpec& load) {
  const Position own{"the study"};
  std::vector<Override> changes = part.changes;
  changes.insert(changes.end(), variant.changes.begin(), variant.changes.end());
  changes.push_back(parse_override(fmt::format("seed={}", seed), own));
  changes.insert(changes.end(), overrides.begin(), overrides.end());
  changes.push_back(parse_override(fmt::format("name={}-{}", part.name, variant.name), own));
  StudyRun run{part.name, variant.name, seed, load(load_tree(part.base, changes)), {}, {}};
  check_spec(run.resolved);
  run.seed = run.resolved.spec.seed;  // an override may have changed it
  const RunPlace place = place_of(run.resolved.spec, folder);
  run.run_id = place.name.run_id;
  run.folder = place.folder;
  return run;
}

}  // namespace

Study read_study(const fs::path& file) {
  const Value root = read_yaml(file);
  if (root.find("task") && !root.find("parts"))
    throw SpecError("{}: this is an experiment, not a study: softalign run {}",
                    root.find("task")->where.str(),
                    shell_file(file.string()));
  if (root.find("parameters") && root.find("base") && !root.find("parts"))
    throw SpecError("{}: this is a sweep, not a study: softalign sweep run {}",
                    root.find("parameters")->where.str(),
                    shell_file(file.string()));
  Fields fields(root, "the study");
  const Value& name = fields.get("name");
  Study study;
  study.question = fields.text("question", "");
  const Value* const seeds = fields.find("seeds");
  const Value* const variants = fields.find("variants");
  const Value& parts = fields.get("parts");
  const Value* const claims = fields.find("claims");
  fields.finish();
  study.name = legal_name(text_of(name, "name"), name.where);
  study.seeds = read_seeds(seeds);
  const std::vector<StudyVariant> shared = read_variants(variants);
  for (const Value::Entry& part : entries_of(parts, "parts"))
    study.parts.push_back(read_part(part, shared));
  if (study.parts.empty()) throw SpecError("{}: the study has no parts", root.where.str());
  if (claims)
    for (const Value& claim : items_of(*claims, "claims"))
      study.claims.push_back(read_claim(claim, study));
  return study;
}

bool is_chosen(const std::string& part, const std::string& variant, const std::string& pattern) {
  return pattern.empty() || fnmatch(pattern.c_str(), (part + "/" + variant).c_str(), 0) == 0;
}

std::vector<StudyRun> plan_study(const Study& study,
                                 const std::vector<Override>& overrides,
                                 const fs::path& results,
                                 const LoadSpec& load,
                                 const std::string& pattern) {
  std::vector<StudyRun> runs;
  std::set<std::string> planned;
  for (const StudyPart& part : study.parts) {
    if (std::none_of(part.variants.begin(), part.variants.end(), [&](const StudyVariant& variant) {
          return is_chosen(part.name, variant.name, pattern);
        }))
      continue;
    planned.insert(part.name);
    std::map<std::string, std::string> taken;  // by run id
    if (!fs::exists(part.base))
      throw SpecError("{}: there is no spec {}",
                      part.base_named_at.str(),
                      printable(part.base.string(), kWhole));
    for (const StudyVariant& variant : part.variants) {
      for (const Index seed : study.seeds) {
        runs.push_back(plan_run(part, variant, seed, overrides, results / study.name, load));
        const std::string me = fmt::format("{} seed {}", variant.name, seed);
        const auto [other, first] = taken.emplace(runs.back().run_id, me);
        if (!first)
          throw SpecError("part '{}': {} and {} are the same run; do their overrides say anything?",
                          part.name,
                          other->second,
                          me);
      }
    }
  }
  if (runs.empty())
    throw SpecError("no run fits '{}'; give a pattern of part/variant, as 'reverse/*'",
                    printable(pattern));
  for (const StudyPart& part : study.parts)
    for (const StudyMetric& metric : part.metrics)
      if (planned.contains(part.name)) check_metric(metric.name, metric.where);
  for (const StudyClaim& claim : study.claims)
    for (const Measurement& m : claim.statement.measurements())
      if (planned.contains(m.part)) check_metric(m.metric, claim.where);
  return runs;
}

}  // namespace softalign
