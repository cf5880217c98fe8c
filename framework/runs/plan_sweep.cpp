#include "framework/runs/plan_sweep.hpp"

#include <algorithm>
#include <map>

#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/config/scalar.hpp"
#include "framework/config/snapshot.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/frozen_base.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/study/expand.hpp"

namespace softalign {
namespace {

const OptionNode* find_option(const OptionNode& node, const std::string& path) {
  for (const OptionNode& child : node.children) {
    if (child.path == path) return &child;
    if (path.starts_with(child.path + ".")) return find_option(child, path);
  }
  return nullptr;
}

// `types: all`, once the kind of the plugin is known.
void list_types(Sweep& sweep, const OptionNode& options) {
  for (SweepParameter& parameter : sweep.parameters) {
    if (!parameter.all_types) continue;
    const std::string block = parameter.path.substr(0, parameter.path.size() - 5);  // ".type"
    const OptionNode* const node = find_option(options, block);
    const auto* const choice = node ? std::get_if<Choice>(&node->value) : nullptr;
    if (!choice)
      throw SpecError("{}: '{}' is no plugin's type in the base spec, so its types are not known",
                      parameter.where.str(),
                      printable(parameter.path));
    for (const Value& excluded : parameter.excluded)
      Registry::instance().find(choice->kind, excluded.text, excluded.where);
    for (const PluginEntry* entry : Registry::instance().entries(choice->kind)) {
      const Value type = Value::scalar(entry->name, parameter.where);
      if (std::none_of(parameter.excluded.begin(), parameter.excluded.end(), [&](const Value& no) {
            return same_value(no, type);
          }))
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

// That every setting is what the run has: another one may have replaced the block that it is in, or
// chosen a plugin without such an option.
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

// Resolves a row, names it and writes its paths out.
void finish_row(const RunList& list,
                const LoadSpec& load,
                ListedRun& row,
                std::vector<std::string>& notes) {
  // A metric that nobody asked for may be missing, where runs are not stopped by it.
  const ComparedMetric& metric = list.options.metric;
  const bool asked = list.options.early_terminate.type != "none" ||
                     list.method == SweepMethod::optuna || metric.name != ComparedMetric().name;
  const ResolvedSpec<Spec> resolved = resolve_row(list, row, load, asked ? metric.name : "");
  name_row(row, resolved.spec);
  const OptionNode options = values_of(resolved.spec);
  for (Override& setting : row.set)
    if (const OptionNode* const option = find_option(options, setting.path))
      make_paths_whole(setting.value, *option);
  check_settings(list, row, options);
  for (const std::string& note : resolved.notes)
    if (std::ranges::count(notes, note) == 0) notes.push_back(note);
}

std::string hash_of(const Sweep& sweep, const Value& base) {
  return sha256_hex(sweep.text + block_text(base));
}

// The name of the frozen base. options: of the base spec.
const std::string& add_base(const Sweep& sweep,
                            const LoadSpec& load,
                            OptionNode& options,
                            RunList& list) {
  check_base(sweep.base, sweep.base_named_at);
  SpecTree tree = load_tree(sweep.base);
  const ResolvedSpec<Spec> resolved = load(tree);
  options = values_of(resolved.spec);
  return list.add_base(frozen_base(tree.root, resolved.spec, options));
}

}  // namespace

RunList plan_sweep(const Sweep& given, const fs::path& results, const LoadSpec& load) {
  Sweep sweep = given;
  RunList list;
  list.name = sweep.name;
  list.folder = results / sweep.name;
  list.file = sweep.file;
  list.options = sweep.options;
  list.method = sweep.method;
  list.search_seed = sweep.search_seed;
  OptionNode options;
  list.base = add_base(sweep, load, options, list);
  list.hash = hash_of(sweep, list.bases.at(list.base));
  list_types(sweep, options);
  for (const StudyClaim& claim : sweep.claims)
    for (const Measurement& m : claim.statement.measurements()) check_metric(m.metric, claim.where);
  list.set_parameters(sweep.parameters);
  const Index seeds = std::ssize(sweep.options.seeds);
  if (const Index cap = sweep.run_cap.value_or(0); cap % seeds != 0)
    list.notes.push_back(
        sweep.method == SweepMethod::optuna
            ? fmt::format("run_cap {} is no multiple of the {} seeds: {} runs are made",
                          cap,
                          seeds,
                          cap / seeds * seeds)
            : fmt::format("run_cap {} is no multiple of the {} seeds: the last configuration gets "
                          "only {} of them",
                          cap,
                          seeds,
                          cap % seeds));
  if (sweep.method == SweepMethod::optuna) return list;

  const Index runs = sweep.run_cap.value_or(kMostRuns);
  const Configurations found = expand(sweep, (runs + seeds - 1) / seeds);
  if (found.equal > 0 && sweep.method != SweepMethod::random)
    list.notes.push_back(fmt::format(
        "{} that the conditions made equal to others {} left out",
        found.equal == 1 ? "1 configuration" : fmt::format("{} configurations", found.equal),
        found.equal == 1 ? "is" : "are"));
  if (!sweep.run_cap && std::ssize(found.list) * seeds >= kMostRuns)
    throw SpecError("{}: {} runs or more; give run_cap", sweep.file.string(), kMostRuns);
  std::map<std::string, std::size_t> rows_by_id;  // run id -> row
  for (const Configuration& configuration : found.list) {
    for (const Index seed : sweep.options.seeds) {
      if (std::ssize(list.rows) == runs) break;
      ListedRun row{
          .k = std::ssize(list.rows), .seed = seed, .base = list.base, .set = configuration};
      finish_row(list, load, row, list.notes);
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
  return list;
}

std::string plan_hash(const Sweep& sweep, const LoadSpec& load) {
  OptionNode options;
  RunList list;
  const std::string base = add_base(sweep, load, options, list);
  return hash_of(sweep, list.bases.at(base));
}

std::vector<ListedRun> rows_of(const RunList& list,
                               const std::vector<Override>& set,
                               const LoadSpec& load) {
  if (list.method != SweepMethod::optuna)
    throw SpecError("{}: method {} has its rows; only optuna's are proposed",
                    list.name,
                    to_string(list.method));
  const auto sets = [&](const SweepParameter& parameter) {
    return std::any_of(
        set.begin(), set.end(), [&](const Override& s) { return s.path == parameter.path; });
  };
  if (set.size() != list.parameters.size() ||
      !std::all_of(list.parameters.begin(), list.parameters.end(), sets))
    throw SpecError("{}: give each of its {} parameters a value, and no other option",
                    list.name,
                    list.parameters.size());
  std::vector<std::string> notes;
  std::vector<ListedRun> rows;
  for (const Index seed : list.options.seeds) {
    ListedRun row{
        .k = std::ssize(list.rows) + std::ssize(rows), .seed = seed, .base = list.base, .set = set};
    finish_row(list, load, row, notes);
    const auto same = std::ranges::find(list.rows, row.run_id, &ListedRun::run_id);
    rows.push_back(same == list.rows.end() ? std::move(row) : *same);
  }
  return rows;
}

}  // namespace softalign
