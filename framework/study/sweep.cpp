#include "framework/study/sweep.hpp"

#include <algorithm>

#include "framework/base/path.hpp"
#include "framework/base/suggest.hpp"
#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/scalar.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

SweepMethod read_method(const Value* value) {
  if (!value) return SweepMethod::grid;
  try {
    return sweep_method(to_text(*value, one_of("grid", "random", "zip", "optuna"))).value();
  } catch (const ScalarFault& fault) {
    throw SpecError("{}: method: {}", value->where.str(), fault.what());
  }
}

// A condition speaks of the sweep's parameters, and of values that they take.
std::vector<Override> read_settings(const Value& value,
                                    const std::string& what,
                                    const std::vector<SweepParameter>& parameters,
                                    bool condition) {
  std::vector<Override> settings;
  std::vector<std::string> paths;
  for (const SweepParameter& parameter : parameters) paths.push_back(parameter.path);
  for (const Value::Entry& entry : entries_of(value, what)) {
    const auto found = std::find(paths.begin(), paths.end(), entry.key);
    if (condition && found == paths.end())
      throw SpecError("{}: {}: '{}' is no parameter of this sweep{}",
                      entry.where.str(),
                      what,
                      printable(entry.key),
                      suggestion(entry.key, paths));
    if (condition) {
      const SweepParameter& parameter = parameters[usize(found - paths.begin())];
      std::vector<std::string> known;
      bool there = !parameter.is_finite() || parameter.all_types;
      for (const Value& one : parameter.values) {
        known.push_back(one.text);
        there = there || same_value(one, entry.value);
      }
      if (!there)
        throw SpecError("{}: {}: {} is none of the values of {}{}",
                        entry.value.where.str(),
                        what,
                        entry.value.describe(),
                        entry.key,
                        suggestion(entry.value.text, known));
    }
    refuse_own(entry.key, entry.where);
    settings.push_back({entry.key, false, entry.value, entry.where});
  }
  if (settings.empty()) throw SpecError("{}: {}: says nothing", value.where.str(), what);
  return settings;
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
  condition.when =
      read_settings(exclude ? *exclude : *when, exclude ? "exclude" : "when", parameters, true);
  if (set) condition.set = read_settings(*set, "set", parameters, false);
  if (!unset) return condition;
  for (const Value& item : items_of(*unset, "unset")) {
    condition.unset.push_back(text_of(item, "unset"));
    if (std::none_of(parameters.begin(), parameters.end(), [&](const SweepParameter& parameter) {
          return parameter.path == condition.unset.back();
        }))
      throw SpecError("{}: unset: '{}' is no parameter of this sweep",
                      item.where.str(),
                      printable(condition.unset.back()));
  }
  return condition;
}

// What the runs are a function of, besides the base's content.
std::string canonical(const Value& root) {
  std::string text;
  for (const Value::Entry& entry : root.entries)
    if (entry.key != "name" && entry.key != "base" && entry.key != "run_cap" &&
        entry.key != "resources" && entry.key != "notes" && entry.key != "claims")
      text += entry.key + ": " + entry.value.flow() + "\n";
  return text;
}

// That a claim speaks of the best configuration, among values of the sweep's own parameters.
void check_measurement(const Measurement& m,
                       const std::vector<SweepParameter>& parameters,
                       const Position& where) {
  if (!m.variant.empty())
    throw SpecError("{}: '{}': a sweep has no parts; write {}(best) or {}(best where PATH=VALUE)",
                    where.str(),
                    printable(m.text, 200),
                    m.metric,
                    m.metric);
  std::vector<std::string> paths;
  for (const SweepParameter& parameter : parameters) paths.push_back(parameter.path);
  for (const Setting& setting : m.among) {
    const auto found = std::ranges::find(paths, setting.path);
    if (found == paths.end())
      throw SpecError("{}: '{}' is no parameter of this sweep{}",
                      where.str(),
                      printable(setting.path),
                      suggestion(setting.path, paths));
    const SweepParameter& parameter = parameters[usize(found - paths.begin())];
    if (parameter.is_finite() && !parameter.all_types &&
        std::ranges::none_of(parameter.values,
                             [&](const Value& value) { return same_value(value, setting.value); }))
      throw SpecError("{}: {} is never {} in this sweep",
                      where.str(),
                      setting.path,
                      printable(setting.value.flow()));
  }
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

}  // namespace

std::string to_string(SweepMethod method) {
  switch (method) {
    case SweepMethod::grid:
      return "grid";
    case SweepMethod::random:
      return "random";
    case SweepMethod::zip:
      return "zip";
    case SweepMethod::optuna:
      return "optuna";
  }
  return "grid";
}

std::optional<SweepMethod> sweep_method(std::string_view name) {
  for (const SweepMethod method :
       {SweepMethod::grid, SweepMethod::random, SweepMethod::zip, SweepMethod::optuna})
    if (name == to_string(method)) return method;
  return std::nullopt;
}

Sweep read_sweep(const fs::path& file) {
  const Value root = read_yaml(file);
  for (const auto& [key, other] : {std::pair{"task", "run"}, std::pair{"parts", "study"}})
    if (const auto* entry = root.find(key); entry && !root.find("parameters"))
      throw SpecError("{}: this is no sweep: softalign {} {}",
                      entry->where.str(),
                      other,
                      printable(file.string(), kWhole));
  Fields fields(root, "the sweep");
  const Value& name = fields.get("name");
  const Value& base = fields.get("base");
  const Value* const method = fields.find("method");
  const Value& parameters = fields.get("parameters");
  const Value* const conditions = fields.find("conditions");
  const Value* const cap = fields.find("run_cap");
  const Value* const search_seed = fields.find("search_seed");
  const Value* const claims = fields.find("claims");
  fields.find("notes");

  Sweep sweep;
  sweep.options = read_list_options(fields, root.where);
  fields.finish();
  sweep.file = file;
  sweep.name = legal_name(text_of(name, "name"), name.where);
  sweep.base = fs::path(base.where.file).parent_path() / text_of(base, "base");
  sweep.base_named_at = base.where;
  sweep.method = read_method(method);
  for (const Value::Entry& entry : entries_of(parameters, "parameters")) {
    refuse_own(entry.key, entry.where);
    sweep.parameters.push_back(read_parameter(entry));
  }
  if (sweep.parameters.empty())
    throw SpecError("{}: no parameters; give the options to try", parameters.where.str());
  if (conditions)
    for (const Value& item : items_of(*conditions, "conditions"))
      sweep.conditions.push_back(read_condition(item, sweep.parameters));
  if (cap) sweep.run_cap = integer_of(*cap, "run_cap", between(1, kMostRuns));
  if (search_seed) sweep.search_seed = integer_of(*search_seed, "search_seed", at_least(0));
  if (claims)
    sweep.claims = read_claims(*claims, [&](const Measurement& m, const Position& where) {
      check_measurement(m, sweep.parameters, where);
    });
  sweep.text = canonical(root);
  check_method(sweep, root);
  return sweep;
}

}  // namespace softalign
