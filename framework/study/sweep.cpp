#include "framework/study/sweep.hpp"

#include <algorithm>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"
#include "framework/study/settings.hpp"

namespace softalign {
namespace {

// Throws SpecError for an option that the sweep itself sets in each run.
void refuse_own(const std::string& option, const Position& where) {
  if (option == "seed" || option == "name")
    throw SpecError("{}: '{}' is no option to change here: each run has its own{}",
                    where.str(),
                    option,
                    option == "seed" ? "; give seeds: {first: 1, count: 3}" : "");
}

// Parts and variants ------------------------------------------------------------------------------

// Reads a map of paths (or blocks) and values, or a list as on the command line.
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

std::vector<SweepVariant> read_variants(const Value* value) {
  std::vector<SweepVariant> variants;
  if (!value) return variants;
  for (const Value::Entry& entry : entries_of(*value, "variants"))
    variants.push_back(
        {legal_name(entry.key, entry.where),
         read_overrides(entry.value, fmt::format("variant '{}'", printable(entry.key)))});
  return variants;
}

std::vector<ReportedMetric> read_report(const Value* value) {
  std::vector<ReportedMetric> metrics = {{"token_accuracy", {}}, {"bleu", {}}};
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

// The settings of a study that apply to all its parts.
struct Shared {
  std::vector<SweepVariant> variants;
  const Value* tiny = nullptr;
};

// Reads the keys of a part, at `where`. variants: whether it has variants instead of parameters.
SweepPart read_part(Fields& fields,
                    const std::string& name,
                    const Position& where,
                    bool variants,
                    const Shared& shared,
                    bool tiny) {
  SweepPart part;
  part.name = variants ? name : "";
  part.title = fields.text("title", name);
  const Value& base = fields.get("base");
  const Value* const changes = fields.find("overrides");
  const Value* const own_tiny = fields.find("tiny");
  const Value* const smaller = own_tiny ? own_tiny : shared.tiny;
  const Value* const own_variants = variants ? fields.find("variants") : nullptr;
  const Value* const report = variants ? fields.find("report") : nullptr;
  fields.finish();
  part.base = fs::path(base.where.file).parent_path() / text_of(base, "base");
  part.base_named_at = base.where;
  if (changes) part.changes = read_overrides(*changes, "overrides");
  if (tiny && !smaller) part.changes.push_back(parse_override("train.max_updates=2", where));
  if (smaller)
    for (Override& change : read_overrides(*smaller, "tiny"))
      if (tiny) part.changes.push_back(std::move(change));
  part.variants = shared.variants;
  for (SweepVariant& own : read_variants(own_variants)) {
    const auto same = std::ranges::find(part.variants, own.name, &SweepVariant::name);
    if (same == part.variants.end())
      part.variants.push_back(std::move(own));
    else
      *same = std::move(own);
  }
  if (variants && part.variants.empty())
    throw SpecError(
        "{}: part '{}' has no variants; give it some, or the whole study", where.str(), name);
  if (variants) part.metrics = read_report(report);
  return part;
}

// Parameters and conditions -----------------------------------------------------------------------

std::vector<std::string> paths_of(const std::vector<SweepParameter>& parameters) {
  std::vector<std::string> paths;
  for (const SweepParameter& parameter : parameters) paths.push_back(parameter.path);
  return paths;
}

// Returns the parameter with this path. Throws SpecError if there is no such parameter. what: the key that names it.
const SweepParameter& parameter_at(const std::string& path,
                                   const std::vector<SweepParameter>& parameters,
                                   const Position& where,
                                   const std::string& what = "") {
  const auto found = std::ranges::find(parameters, path, &SweepParameter::path);
  if (found == parameters.end())
    throw SpecError("{}: {}'{}' is no parameter of this sweep{}",
                    where.str(),
                    what.empty() ? "" : what + ": ",
                    printable(path),
                    suggestion(path, paths_of(parameters)));
  return *found;
}

bool can_be(const SweepParameter& parameter, const Value& value) {
  return !parameter.is_finite() || parameter.all_types ||
         std::ranges::any_of(parameter.values,
                             [&](const Value& one) { return same_value(one, value); });
}

std::vector<Override> read_changes(const Value& value, const std::string& what) {
  std::vector<Override> changes;
  for (const Value::Entry& entry : entries_of(value, what)) {
    refuse_own(entry.key, entry.where);
    changes.push_back({entry.key, false, entry.value, entry.where});
  }
  if (changes.empty()) throw SpecError("{}: {}: says nothing", value.where.str(), what);
  return changes;
}

SweepCondition read_condition(const Value& value, const std::vector<SweepParameter>& parameters) {
  Fields fields(value, "a condition");
  const Value *const when = fields.find("when"), *const exclude = fields.find("exclude");
  const Value *const set = fields.find("set"), *const unset = fields.find("unset");
  fields.finish();
  SweepCondition condition;
  condition.where = value.where;
  condition.exclude = exclude != nullptr;
  if (exclude ? when || set || unset : !when || !(set || unset))
    throw SpecError(
        "{}: a condition is {{when: .., set: ..}}, {{when: .., unset: [..]}} or {{exclude: ..}}",
        value.where.str());
  const std::string what = exclude ? "exclude" : "when";
  condition.when = read_changes(exclude ? *exclude : *when, what);
  for (const Override& wanted : condition.when) {
    const SweepParameter& parameter = parameter_at(wanted.path, parameters, wanted.where, what);
    std::vector<std::string> known;
    for (const Value& one : parameter.values) known.push_back(one.text);
    if (!can_be(parameter, wanted.value))
      throw SpecError("{}: {}: {} is not a value of {}{}",
                      wanted.value.where.str(),
                      what,
                      wanted.value.describe(),
                      wanted.path,
                      suggestion(wanted.value.text, known));
  }
  if (set) condition.set = read_changes(*set, "set");
  if (!unset) return condition;
  for (const Value& item : items_of(*unset, "unset"))
    condition.unset.push_back(
        parameter_at(text_of(item, "unset"), parameters, item.where, "unset").path);
  return condition;
}

// Returns the text that, together with the base, determines the rows of parameters.
std::string canonical(const Value& root) {
  constexpr std::string_view kOther[] = {"name",
                                         "base",
                                         "run_cap",
                                         "resources",
                                         "notes",
                                         "claims",
                                         "question",
                                         "title",
                                         "overrides",
                                         "tiny"};
  std::string text;
  for (const Value::Entry& entry : root.entries)
    if (std::ranges::count(kOther, entry.key) == 0)
      text += entry.key + ": " + entry.value.flow() + "\n";
  return text;
}

void check_method(const Sweep& sweep, const Value& root) {
  const bool draws = sweep.method == SweepMethod::random || sweep.method == SweepMethod::optuna;
  for (const SweepParameter& parameter : sweep.parameters)
    if (!draws && !parameter.is_finite())
      throw SpecError("{}: {} draws values, so it goes with method random or optuna, not with {}",
                      parameter.where.str(),
                      parameter.kind_text,
                      to_string(sweep.method));
  if (draws && !sweep.run_cap)
    throw SpecError(
        "{}: method {} needs run_cap: how many runs", root.where.str(), to_string(sweep.method));
  for (const SweepParameter& parameter : sweep.parameters)
    if (sweep.method == SweepMethod::optuna && parameter.kind == SweepParameter::Kind::normal)
      throw SpecError("{}: optuna has no normal distribution; use uniform or log_uniform_values",
                      parameter.where.str());
  if (sweep.method == SweepMethod::optuna && !sweep.conditions.empty())
    throw SpecError("{}: optuna's values are its own; conditions go with the other methods",
                    sweep.conditions.front().where.str());
  if (sweep.method != SweepMethod::zip) return;
  for (const SweepParameter& parameter : sweep.parameters) {
    const SweepParameter& first = sweep.parameters.front();
    if (parameter.values.size() != first.values.size())
      throw SpecError("{}: method zip takes the lists side by side, but {} has {} values and {} {}",
                      parameter.where.str(),
                      first.path,
                      first.values.size(),
                      parameter.path,
                      parameter.values.size());
  }
}

// Claims ------------------------------------------------------------------------------------------

void check_variant(const Measurement& m, const Sweep& sweep, const Position& where) {
  const auto named = [&](const auto& all, const std::string& name, const char* what) {
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.name);
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw SpecError("{}: '{}' speaks of {}{}",
                      where.str(),
                      printable(m.text, 200),
                      what,
                      suggestion(name, names));
    return usize(found - names.begin());
  };
  if (m.variant.empty())
    throw SpecError("{}: '{}' speaks of a sweep's best; a study's claims name part/variant",
                    where.str(),
                    printable(m.text, 200));
  const SweepPart& part = sweep.parts[named(sweep.parts, m.part, "no part of this study")];
  named(part.variants, m.variant, "no variant of its part");
}

void check_best(const Measurement& m, const Sweep& sweep, const Position& where) {
  if (!m.variant.empty())
    throw SpecError("{}: '{}': a sweep has no parts; write {}(best) or {}(best where PATH=VALUE)",
                    where.str(),
                    printable(m.text, 200),
                    m.metric,
                    m.metric);
  for (const Setting& setting : m.among)
    if (!can_be(parameter_at(setting.path, sweep.parameters, where), setting.value))
      throw SpecError("{}: {} is never {} in this sweep",
                      where.str(),
                      setting.path,
                      printable(setting.value.flow()));
}

}  // namespace

Sweep read_sweep(const fs::path& file, bool tiny) {
  const Value root = read_yaml(file);
  const bool variants = !root.find("parameters");
  if (const auto* task = root.find("task"); task && variants && !root.find("parts"))
    throw SpecError("{}: this is an experiment, not a study: softalign run {}",
                    task->where.str(),
                    shell_file(file.string()));
  Fields fields(root, variants ? "the study" : "the sweep");
  const Value& name = fields.get("name");
  const Value* const method = fields.find("method");
  const Value* const parameters = fields.find("parameters");
  const Value* const conditions = fields.find("conditions");
  const Value* const cap = fields.find("run_cap");
  const Value* const search_seed = fields.find("search_seed");
  const Value* const parts = fields.find("parts");
  const Value* const claims = fields.find("claims");
  fields.find("notes");

  Sweep sweep;
  sweep.file = file;
  sweep.question = fields.text("question", "");
  read_settings(fields, root.where, sweep);
  if (const Value* const resources = fields.find("resources")) {
    read_resources(resources, {});  // only to report errors in it
    sweep.resources = *resources;
  }
  if (tiny) sweep.seeds.resize(1);
  sweep.name = legal_name(text_of(name, "name"), name.where);
  for (const Value* const other : {method, conditions, cap, search_seed})
    if (variants && other)
      throw SpecError("{}: this goes with parameters, and here are none", other->where.str());
  if (parts && !variants)
    throw SpecError("{}: parameters go with one base, not with parts", parts->where.str());
  Shared shared;
  if (parts) {
    shared = {read_variants(fields.find("variants")), fields.find("tiny")};
    fields.finish();
    for (const Value::Entry& entry : entries_of(*parts, "parts")) {
      const std::string part = legal_name(entry.key, entry.where);
      Fields own(entry.value, fmt::format("part '{}'", part));
      sweep.parts.push_back(read_part(own, part, entry.where, true, shared, tiny));
    }
    if (sweep.parts.empty()) throw SpecError("{}: the study has no parts", root.where.str());
  } else {
    sweep.parts.push_back(read_part(fields, sweep.name, name.where, variants, shared, tiny));
  }
  if (tiny) sweep.name += "-tiny";

  sweep.method = variants ? SweepMethod::variants : SweepMethod::grid;
  if (method) {
    try {
      from_string(to_text(*method, one_of("grid", "random", "zip", "optuna")), sweep.method);
    } catch (const ScalarFault& fault) {
      throw SpecError("{}: method: {}", method->where.str(), fault.what());
    }
  }
  if (parameters)
    for (const Value::Entry& entry : entries_of(*parameters, "parameters")) {
      refuse_own(entry.key, entry.where);
      sweep.parameters.push_back(read_parameter(entry));
    }
  if (parameters && sweep.parameters.empty())
    throw SpecError("{}: no parameters; give the options to try", parameters->where.str());
  if (conditions)
    for (const Value& item : items_of(*conditions, "conditions"))
      sweep.conditions.push_back(read_condition(item, sweep.parameters));
  if (cap) sweep.run_cap = integer_of(*cap, "run_cap", between(1, kMostRuns));
  if (search_seed) sweep.search_seed = integer_of(*search_seed, "search_seed", at_least(0));
  if (claims)
    sweep.claims = read_claims(*claims, [&](const Measurement& m, const Position& where) {
      variants ? check_variant(m, sweep, where) : check_best(m, sweep, where);
    });
  if (!variants) sweep.text = canonical(root);
  check_method(sweep, root);
  return sweep;
}

}  // namespace softalign
