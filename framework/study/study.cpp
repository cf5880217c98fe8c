#include "framework/study/study.hpp"

#include <algorithm>

#include "framework/base/path.hpp"
#include "framework/base/suggest.hpp"
#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

// A map of paths (or blocks) and values, or a list as on the command line.
std::vector<Override> read_overrides(const Value& value, const std::string& what) {
  std::vector<Override> changes;
  if (value.is_list())
    for (const Value& item : value.items)
      changes.push_back(parse_override(text_of(item, what), item.where));
  else
    for (const Value::Entry& entry : entries_of(value, what))
      changes.push_back({entry.key, false, entry.value, entry.where});
  for (const Override& change : changes) refuse_own(change.path, change.where);
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

StudyPart read_part(const Value::Entry& entry, const std::vector<StudyVariant>& shared, bool tiny) {
  StudyPart part;
  part.name = legal_name(entry.key, entry.where);
  Fields fields(entry.value, fmt::format("part '{}'", part.name));
  part.title = fields.text("title", part.name);
  const Value& base = fields.get("base");
  const Value* const changes = fields.find("overrides");
  const Value* const smaller = fields.find("tiny");
  const Value* const variants = fields.find("variants");
  const Value* const report = fields.find("report");
  fields.finish();
  part.base = fs::path(base.where.file).parent_path() / text_of(base, "base");
  part.base_named_at = base.where;
  if (changes) part.changes = read_overrides(*changes, "overrides");
  if (tiny && !smaller)
    throw SpecError(
        "{}: part '{}' has no tiny form; give it one, as tiny: {{train.max_updates: 1}}",
        entry.where.str(),
        part.name);
  if (smaller)
    for (Override& change : read_overrides(*smaller, "tiny"))
      if (tiny) part.changes.push_back(std::move(change));
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

// That what a claim speaks of is in the study.
void check_measurement(const Measurement& m, const Study& study, const Position& where) {
  std::vector<std::string> names;
  for (const StudyPart& part : study.parts) names.push_back(part.name);
  if (m.variant.empty())
    throw SpecError("{}: '{}' speaks of a sweep's best; a study's claims name part/variant",
                    where.str(),
                    printable(m.text, 200));
  const auto part = std::find(names.begin(), names.end(), m.part);
  if (part == names.end())
    throw SpecError("{}: '{}' speaks of no part of this study{}",
                    where.str(),
                    printable(m.text, 200),
                    suggestion(m.part, names));
  const auto& variants = study.parts[usize(part - names.begin())].variants;
  names.clear();
  for (const StudyVariant& variant : variants) names.push_back(variant.name);
  if (std::find(names.begin(), names.end(), m.variant) == names.end())
    throw SpecError("{}: '{}' speaks of no variant of its part{}",
                    where.str(),
                    printable(m.text, 200),
                    suggestion(m.variant, names));
}

}  // namespace

Study read_study(const fs::path& file, bool tiny) {
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
  const Value* const variants = fields.find("variants");
  const Value& parts = fields.get("parts");
  const Value* const claims = fields.find("claims");
  study.options = read_list_options(fields, root.where);
  fields.finish();
  if (tiny) study.options.seeds.resize(1);
  study.file = file;
  study.name = legal_name(text_of(name, "name"), name.where) + (tiny ? "-tiny" : "");
  const std::vector<StudyVariant> shared = read_variants(variants);
  for (const Value::Entry& part : entries_of(parts, "parts"))
    study.parts.push_back(read_part(part, shared, tiny));
  if (study.parts.empty()) throw SpecError("{}: the study has no parts", root.where.str());
  if (claims)
    study.claims = read_claims(*claims, [&](const Measurement& m, const Position& where) {
      check_measurement(m, study, where);
    });
  return study;
}

}  // namespace softalign
