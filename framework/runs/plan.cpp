#include "framework/runs/plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/train/diagnostics.hpp"

namespace softalign {
namespace {

bool fits(const std::string& part, const std::string& variant, const std::string& pattern) {
  return pattern.empty() || fnmatch(pattern.c_str(), (part + "/" + variant).c_str(), 0) == 0;
}

const OptionNode* find_option(const OptionNode& node, const std::string& path) {
  for (const OptionNode& child : node.children) {
    if (child.path == path) return &child;
    if (path.starts_with(child.path + ".")) return find_option(child, path);
  }
  return nullptr;
}

// Replaces `types: all` by the registered types.
void list_types(std::vector<SweepParameter>& parameters, const OptionNode& options) {
  for (SweepParameter& parameter : parameters) {
    if (!parameter.all_types) continue;
    const std::string block = parameter.path.substr(0, parameter.path.size() - 5);  // ".type"
    const OptionNode* const node = find_option(options, block);
    const auto* const choice = node ? std::get_if<Choice>(&node->value) : nullptr;
    if (!choice)
      throw SpecError("{}: '{}' is not the type of a plugin in the base spec",
                      parameter.where.str(),
                      printable(parameter.path));
    for (const Value& excluded : parameter.excluded)
      Registry::instance().find(choice->kind, excluded.text, excluded.where);
    for (const PluginEntry* entry : Registry::instance().entries(choice->kind)) {
      const Value type = Value::scalar(entry->name, parameter.where);
      if (std::ranges::none_of(parameter.excluded,
                               [&](const Value& no) { return same_value(no, type); }))
        parameter.values.push_back(type);
    }
    if (parameter.values.empty())
      throw SpecError(
          "{}: parameter '{}' has no values left", parameter.where.str(), parameter.path);
  }
}

std::string row_name(const RunList& list, const ListedRun& row) {
  return fmt::format("row {} ({})", row.k, setting_text(list, row));
}

// Checks that the run has every setting: another setting may have replaced its block, or chosen a plugin
// without this option.
void check_settings(const RunList& list, const ListedRun& row, const OptionNode& options) {
  for (const Override& setting : row.set) {
    if (!setting.value.is_scalar()) continue;
    const OptionNode* const node = find_option(options, setting.path);
    const bool choice = node && std::holds_alternative<Choice>(node->value);
    if (choice || setting.path.ends_with(".type")) continue;
    const std::string has = node && !node->absent ? leaf_text(node->value) : "nothing";
    if (node &&
        (same_value(Value::scalar(has, {}), setting.value) ||
         same_value(Value::scalar(has, {}), Value::scalar(setting.value.flow(), {})) ||
         has == setting.value.text || has == fmt::format("[{}]", yaml_text(setting.value.text))))
      continue;
    throw SpecError(
        "{}: {}: another setting of the row replaces {}, and the run would have {}; leave one out "
        "with a condition {{when: .., unset: [{}]}}",
        setting.where.str(),
        row_name(list, row),
        setting.path,
        has,
        setting.path);
  }
}

void add_notes(RunList& list, const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    if (std::ranges::count(list.notes, note) == 0) list.notes.push_back(note);
}

// Resolves and names a row, and makes its paths absolute.
void finish_row(RunList& list, const LoadSpec& load, ListedRun& row) {
  // A metric that was not requested may be missing if it does not stop runs.
  const bool asked = list.early_terminate.type != "none" || list.method == SweepMethod::optuna ||
                     list.metric.name != ComparedMetric().name;
  const ResolvedSpec<Spec> resolved = resolve_row(list, row, load, asked ? list.metric.name : "");
  name_row(row, resolved.spec);
  const OptionNode options = values_of(resolved.spec);
  for (Override& setting : row.set)
    if (const OptionNode* const option = find_option(options, setting.path))
      make_paths_whole(setting.value, *option);
  check_settings(list, row, options);
  add_notes(list, resolved.notes);
}

struct Base {
  std::string name;
  ResolvedSpec<Spec> resolved;
};

Base add_base(const SweepPart& part,
              const std::vector<Override>& changes,
              const LoadSpec& load,
              RunList& list) {
  check_base(part.base, part.base_named_at);
  const SpecTree tree = load_tree(part.base, changes);
  Base base{"", load(tree)};
  base.name =
      list.add_base(frozen_base(tree.root, base.resolved.spec, values_of(base.resolved.spec)));
  return base;
}

std::string hash_of(const Sweep& sweep, const Value& base) {
  return sha256_hex(sweep.text + block_text(base));
}

std::vector<Override> joined(std::vector<Override> first, const std::vector<Override>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Rows of variants --------------------------------------------------------------------------------

// The arrays of planned diagnostics, by part/variant and diagnostic.
using Diagnosed = std::map<std::string, std::map<std::string, std::vector<FoundArray>>>;

void check_finding(const Measurement& m, const Position& where, const Diagnosed& diagnosed) {
  const std::string subject = m.part + "/" + m.variant;
  const std::size_t dot = m.metric.find('.');
  const std::string diagnostic = m.metric.substr(0, dot);
  std::string array = m.metric.substr(dot + 1);
  if (array.starts_with("start.")) array.erase(0, array.find('.') + 1);
  const auto& here = diagnosed.at(subject);
  const auto found = here.find(diagnostic);
  if (found == here.end())
    throw SpecError("{}: '{}': the spec of {} has no diagnostics.{}",
                    where.str(),
                    printable(m.text, 200),
                    subject,
                    printable(diagnostic));
  std::vector<std::string> names;
  for (const FoundArray& one : found->second)
    if (one.axes.size() < 2) names.push_back(one.name);
  if (std::ranges::count(names, array) == 0)
    throw SpecError("{}: '{}': {} finds no {}{}",
                    where.str(),
                    printable(m.text, 200),
                    diagnostic,
                    printable(array),
                    suggestion(array, names));
}

class VariantPlanner {
 public:
  VariantPlanner(const Sweep& sweep,
                 const std::vector<Override>& overrides,
                 const LoadSpec& load,
                 Plan& plan)
      : sweep_(sweep), overrides_(overrides), load_(load), plan_(plan), list_(plan.list) {}

  void add(const SweepPart& part) {
    planned_.insert(part.name);
    for (const SweepVariant& variant : part.variants) {
      try {
        add(part, variant);
      } catch (const SpecError& error) {
        throw SpecError("{} (of {}/{})", error.what(), part.name, variant.name);
      }
    }
  }

  void check_claims() const {
    for (const SweepPart& part : sweep_.parts)
      for (const ReportedMetric& metric : part.metrics)
        if (planned_.contains(part.name)) check_metric(metric.name, metric.where);
    for (const StudyClaim& claim : sweep_.claims)
      for (const Measurement& m : claim.statement.measurements()) {
        if (!planned_.contains(m.part)) continue;
        check_metric(m.metric, claim.where);
        if (m.of_diagnostic()) check_finding(m, claim.where, diagnosed_);
      }
  }

 private:
  void add(const SweepPart& part, const SweepVariant& variant) {
    const std::vector<Override> changes = joined(joined(part.changes, variant.changes), overrides_);
    const Base base = add_base(part, changes, load_, list_);
    add_notes(list_, base.resolved.notes);
    const Spec& spec = base.resolved.spec;
    auto& diagnosed = diagnosed_[part.name + "/" + variant.name];
    if (spec.diagnostics) diagnosed = arrays_found(*spec.diagnostics);
    plan_.lengths[part.name] = spec.evaluate.lengths;
    for (const Index seed : sweep_.seeds) {
      ListedRun row{.k = std::ssize(list_.rows),
                    .below = part.name + "-" + variant.name + "/",
                    .part = part.name,
                    .variant = variant.name,
                    .seed = seed,
                    .base = base.name};
      finish_row(list_, load_, row);
      refuse_twin(row);
      const auto same = std::ranges::find_if(list_.rows, [&](const ListedRun& known) {
        return known.below == row.below && known.part == row.part && known.variant == row.variant;
      });
      plan_.wanted.push_back(usize(same - list_.rows.begin()));
      if (same == list_.rows.end())
        list_.rows.push_back(std::move(row));
      else
        same->base = row.base;  // the data may have been moved
    }
  }

  // Throws SpecError if the part already has this run.
  void refuse_twin(const ListedRun& row) const {
    for (const std::size_t i : plan_.wanted)
      if (const ListedRun& other = list_.rows[i];
          other.part == row.part && other.run_id == row.run_id)
        throw SpecError(
            "{}: {} seed {} and {} seed {} are the same run; do their overrides change anything?",
            sweep_.file.string(),
            other.variant,
            other.seed,
            row.variant,
            row.seed);
  }

  const Sweep& sweep_;
  const std::vector<Override>& overrides_;
  const LoadSpec& load_;
  Plan& plan_;
  RunList& list_;
  Diagnosed diagnosed_;
  std::set<std::string> planned_;
};

void plan_variants(const Sweep& sweep,
                   const std::vector<Override>& overrides,
                   const LoadSpec& load,
                   const std::string& pattern,
                   Plan& plan) {
  VariantPlanner planner(sweep, overrides, load, plan);
  for (const SweepPart& part : sweep.parts)
    if (std::ranges::any_of(part.variants, [&](const SweepVariant& variant) {
          return fits(part.name, variant.name, pattern);
        }))
      planner.add(part);
  if (plan.wanted.empty())
    throw SpecError("no run matches '{}'; give a pattern of part/variant, such as 'reverse/*'",
                    printable(pattern));
  planner.check_claims();
}

// Rows of parameters ------------------------------------------------------------------------------

void plan_parameters(Sweep& sweep,
                     const std::vector<Override>& overrides,
                     const LoadSpec& load,
                     RunList& list) {
  const SweepPart& part = sweep.parts.front();
  const Base base = add_base(part, joined(part.changes, overrides), load, list);
  list.base = base.name;
  list.hash = hash_of(sweep, list.bases.at(list.base));
  list_types(sweep.parameters, values_of(base.resolved.spec));
  list.set(sweep);
  for (const StudyClaim& claim : sweep.claims)
    for (const Measurement& m : claim.statement.measurements()) check_metric(m.metric, claim.where);
  const Index seeds = std::ssize(sweep.seeds);
  if (const Index cap = sweep.run_cap.value_or(0); cap % seeds != 0)
    list.notes.push_back(
        sweep.method == SweepMethod::optuna
            ? fmt::format("run_cap {} is not a multiple of the {} seeds: {} runs are planned",
                          cap,
                          seeds,
                          cap / seeds * seeds)
            : fmt::format("run_cap {} is not a multiple of the {} seeds: the last configuration "
                          "has only {} of them",
                          cap,
                          seeds,
                          cap % seeds));
  if (sweep.method == SweepMethod::optuna) return;

  const Index runs = sweep.run_cap.value_or(kMostRuns);
  const Configurations found = expand(sweep, (runs + seeds - 1) / seeds);
  if (found.equal > 0 && sweep.method != SweepMethod::random)
    list.notes.push_back(fmt::format("{} that the conditions make equal to others {} left out",
                                     counted(found.equal, "configuration"),
                                     found.equal == 1 ? "is" : "are"));
  if (!sweep.run_cap && std::ssize(found.list) * seeds >= kMostRuns)
    throw SpecError("{}: {} runs or more; give run_cap", sweep.file.string(), kMostRuns);
  std::map<std::string, std::size_t> rows_by_id;  // run id -> row
  for (const Configuration& configuration : found.list) {
    for (const Index seed : sweep.seeds) {
      if (std::ssize(list.rows) == runs) break;
      ListedRun row{
          .k = std::ssize(list.rows), .seed = seed, .base = list.base, .set = configuration};
      finish_row(list, load, row);
      const auto [other, first] = rows_by_id.emplace(row.run_id, list.rows.size());
      if (!first)
        throw SpecError(
            "{}: {} and {} are the same run, {}; a condition {{when: .., unset: [..]}} or "
            "{{exclude: ..}} can leave one out",
            sweep.file.string(),
            row_name(list, list.rows[other->second]),
            row_name(list, row),
            row.run_id);
      list.rows.push_back(std::move(row));
    }
  }
}

}  // namespace

std::vector<std::size_t> Plan::chosen(const std::string& pattern) const {
  std::vector<std::size_t> chosen;
  for (const std::size_t i : wanted)
    if (fits(list.rows[i].part, list.rows[i].variant, pattern)) chosen.push_back(i);
  return chosen;
}

Plan plan_sweep(const Sweep& given,
                const std::vector<Override>& changes,
                const fs::path& results,
                const LoadSpec& load,
                const std::string& pattern) {
  Sweep sweep = given;
  std::vector<Override> overrides;  // without the row's own settings
  for (const Override& change : changes)
    if (change.path == "seed")
      sweep.seeds = read_seeds(change.value, /*command_line=*/true);
    else if (change.path != "name")
      overrides.push_back(change);
  Plan plan;
  RunList& list = plan.list;
  const ListFolder folder{results / sweep.name};
  if (sweep.has_variants() && is_there(folder.plan())) list = read_list(folder.root);
  list.folder = folder.root;
  list.file = sweep.file;
  list.set(sweep);
  if (sweep.has_variants()) {
    plan_variants(sweep, overrides, load, pattern, plan);
  } else {
    plan_parameters(sweep, overrides, load, list);
    for (std::size_t i = 0; i < list.rows.size(); ++i) plan.wanted.push_back(i);
  }
  return plan;
}

std::string plan_hash(const Sweep& sweep, const LoadSpec& load) {
  RunList list;
  const Base base = add_base(sweep.parts.front(), sweep.parts.front().changes, load, list);
  return hash_of(sweep, list.bases.at(base.name));
}

std::vector<ListedRun> rows_of(const RunList& list,
                               const std::vector<Override>& set,
                               const LoadSpec& load) {
  if (list.method != SweepMethod::optuna)
    throw SpecError("{}: the rows of method {} are fixed; only optuna's are proposed",
                    list.name,
                    to_string(list.method));
  const auto sets = [&](const SweepParameter& parameter) {
    return std::ranges::count(set, parameter.path, &Override::path) > 0;
  };
  if (set.size() != list.parameters.size() || !std::ranges::all_of(list.parameters, sets))
    throw SpecError("{}: give a value for each of its {} parameters, and for no other option",
                    list.name,
                    list.parameters.size());
  RunList more = list;
  std::vector<ListedRun> rows;
  for (const Index seed : list.seeds) {
    ListedRun row{.k = std::ssize(more.rows), .seed = seed, .base = list.base, .set = set};
    finish_row(more, load, row);
    const auto same = std::ranges::find(list.rows, row.run_id, &ListedRun::run_id);
    rows.push_back(same == list.rows.end() ? row : *same);
    if (same == list.rows.end()) more.rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace softalign
