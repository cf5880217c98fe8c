#include "framework/sweep/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "framework/base/hash.hpp"
#include "framework/config/snapshot.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"
#include "framework/sweep/expand.hpp"
#include "framework/sweep/frozen_base.hpp"
#include "framework/sweep/plan_file.hpp"
#include "framework/train/experiment.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

const OptionNode* find_option(const OptionNode& node, const std::string& path) {
  for (const OptionNode& child : node.children) {
    if (child.path == path) return &child;
    if (path.starts_with(child.path + ".")) return find_option(child, path);
  }
  return nullptr;
}

// The input file that an option names, as an absolute path; empty for other options.
std::string input_path(const OptionNode& root, const std::string& path) {
  const OptionNode* const node = find_option(root, path);
  const auto* const file = node ? std::get_if<InputFile>(&node->value) : nullptr;
  return file ? file->path : "";
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

std::vector<Override> overrides_of(const SweepPlan& plan, const SweepRow& row) {
  const Position own{"the plan"};
  std::vector<Override> changes;
  for (const SweepSetting& setting : row.set)
    changes.push_back({setting.path, false, setting.value, setting.where});
  changes.push_back(parse_override(fmt::format("seed={}", row.seed), own));
  changes.push_back(parse_override(fmt::format("name={}", plan.folder.filename().string()), own));
  return changes;
}

ResolvedSpec<Spec> resolve_row(const SweepPlan& plan,
                               const Value& base,
                               const SweepRow& row,
                               const LoadSpec& load,
                               const std::string& compared = {}) {
  SpecTree tree{base, {}};
  for (const Override& change : overrides_of(plan, row)) apply(tree.root, change, tree.notes);
  ResolvedSpec<Spec> resolved = load(std::move(tree));
  check_spec(resolved, compared);
  return resolved;
}

Value base_tree(const SweepPlan& plan) {
  return parse_yaml(plan.base, plan.place().base().string());
}

std::string row_name(const SweepPlan& plan, const SweepRow& row) {
  return fmt::format("row {} ({})", row.k, setting_text(plan, row));
}

// That every setting is what the run has: another one may have replaced the block that it is in, or
// chosen a plugin without such an option.
void check_settings(const SweepPlan& plan, const SweepRow& row, const OptionNode& options) {
  for (const SweepSetting& setting : row.set) {
    if (!setting.value.is_scalar()) continue;
    const OptionNode* const node = find_option(options, setting.path);
    const bool choice = node && std::holds_alternative<Choice>(node->value);
    if (choice || setting.path.ends_with(".type")) continue;
    const std::string has = node && !node->absent ? leaf_text(node->value) : "nothing";
    if (node && (same_value(Value::scalar(has, {}), setting.value) ||
                 same_value(Value::scalar(has, {}), Value::scalar(setting.value.flow(), {})) ||
                 has == setting.value.text))
      continue;
    throw SpecError(
        "{}: {}: another setting of the row replaces {}, and the run would have {}; leave one out "
        "with a condition {{when: .., unset: [{}]}}",
        setting.where.str(),
        row_name(plan, row),
        setting.path,
        has,
        setting.path);
  }
}

// The name that a run goes by among rows that are planned already, or that has a folder; else its
// newest.
std::string id_of(const Spec& spec, const SweepPlan& plan, const std::vector<SweepRow>& planned) {
  const std::vector<RunName> names = names_of(spec);
  for (const RunName& name : names)
    if (names.size() > 1 && (std::ranges::count(planned, name.run_id, &SweepRow::run_id) > 0 ||
                             fs::exists(plan.folder / name.run_id)))
      return name.run_id;
  return names.front().run_id;
}

// Resolves a row, gives it its run id and writes its paths out.
void finish_row(const SweepPlan& plan,
                const Value& base,
                const LoadSpec& load,
                const std::vector<SweepRow>& planned,
                SweepRow& row,
                std::set<std::string>& told,
                std::vector<std::string>& notes) {
  // A metric that nobody asked for may be missing, where runs are not stopped by it.
  const bool asked = plan.early_terminate.type != "none" || plan.method == SweepMethod::optuna ||
                     plan.metric.name != SweepMetric().name;
  const ResolvedSpec<Spec> resolved =
      resolve_row(plan, base, row, load, asked ? plan.metric.name : "");
  row.run_id = id_of(resolved.spec, plan, planned);
  const OptionNode options = values_of(resolved.spec);
  for (SweepSetting& setting : row.set)
    if (const std::string file = input_path(options, setting.path); !file.empty())
      setting.value = Value::scalar(file, setting.value.where, true);
  check_settings(plan, row, options);
  for (const std::string& note : resolved.notes)
    if (told.insert(note).second) notes.push_back(note);
}

}  // namespace

SweepPlan make_plan(const Sweep& given, const fs::path& results, const LoadSpec& load) {
  Sweep sweep = given;
  SweepPlan plan;
  plan.name = sweep.name;
  plan.folder = results / sweep.name;
  plan.file = sweep.file;
  plan.method = sweep.method;
  plan.metric = sweep.metric;
  plan.early_terminate = sweep.early_terminate;
  plan.seeds = sweep.seeds;
  plan.search_seed = sweep.search_seed;
  OptionNode options;
  const Value base = frozen_base(sweep, load, options);  // knows where everything was written
  plan.base = block_text(base);
  plan.hash = sha256_hex(sweep.text + plan.base);
  list_types(sweep, options);
  plan.parameters = sweep.parameters;
  for (const SweepParameter& parameter : plan.parameters)
    if (parameter.is_finite() && parameter.values.size() == 1) plan.fixed.push_back(parameter.path);
  if (const Index cap = sweep.run_cap.value_or(0), seeds = std::ssize(sweep.seeds);
      cap % seeds != 0)
    plan.notes.push_back(
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
  if (sweep.method == SweepMethod::optuna) return plan;

  const Index seeds = std::ssize(sweep.seeds);
  const Index runs = sweep.run_cap.value_or(kMostRuns);
  const Configurations found = expand(sweep, (runs + seeds - 1) / seeds);
  if (found.equal > 0 && sweep.method != SweepMethod::random)
    plan.notes.push_back(fmt::format(
        "{} that the conditions made equal to others {} left out",
        found.equal == 1 ? "1 configuration" : fmt::format("{} configurations", found.equal),
        found.equal == 1 ? "is" : "are"));
  if (!sweep.run_cap && std::ssize(found.list) * seeds >= kMostRuns)
    throw SpecError("{}: {} runs or more; give run_cap", sweep.file.string(), kMostRuns);
  std::vector<SweepRow> planned;
  if (fs::exists(plan.place().plan())) planned = read_plan(plan.folder).rows;
  std::map<std::string, std::size_t> taken;  // run id -> row
  std::set<std::string> told;
  for (const Configuration& configuration : found.list) {
    for (const Index seed : sweep.seeds) {
      if (std::ssize(plan.rows) == runs) break;
      SweepRow row{std::ssize(plan.rows), {}, seed, configuration};
      finish_row(plan, base, load, planned, row, told, plan.notes);
      const auto [other, first] = taken.emplace(row.run_id, plan.rows.size());
      if (!first)
        throw SpecError(
            "{}: {} and {} are the same run, {}; a condition {{when: .., unset: [..]}} or "
            "{{exclude: ..}} can leave one out",
            sweep.file.string(),
            row_name(plan, plan.rows[other->second]),
            row_name(plan, row),
            row.run_id);
      plan.rows.push_back(std::move(row));
    }
  }
  return plan;
}

std::string plan_hash(const Sweep& sweep, const LoadSpec& load) {
  OptionNode options;
  return sha256_hex(sweep.text + block_text(frozen_base(sweep, load, options)));
}

std::vector<SweepRow> rows_of(const SweepPlan& plan,
                              const std::vector<SweepSetting>& set,
                              const LoadSpec& load) {
  if (plan.method != SweepMethod::optuna)
    throw SpecError("{}: method {} has its rows; only optuna's are proposed",
                    plan.name,
                    to_string(plan.method));
  const auto sets = [&](const SweepParameter& parameter) {
    return std::any_of(
        set.begin(), set.end(), [&](const SweepSetting& s) { return s.path == parameter.path; });
  };
  if (set.size() != plan.parameters.size() ||
      !std::all_of(plan.parameters.begin(), plan.parameters.end(), sets))
    throw SpecError("{}: give each of its {} parameters a value, and no other option",
                    plan.name,
                    plan.parameters.size());
  const Value base = base_tree(plan);
  std::set<std::string> told;
  std::vector<std::string> notes;
  std::vector<SweepRow> rows;
  for (const Index seed : plan.seeds) {
    SweepRow row{std::ssize(plan.rows) + std::ssize(rows), {}, seed, set};
    finish_row(plan, base, load, plan.rows, row, told, notes);
    const auto same = std::find_if(plan.rows.begin(), plan.rows.end(), [&](const SweepRow& old) {
      return old.run_id == row.run_id;
    });
    rows.push_back(same == plan.rows.end() ? std::move(row) : *same);
  }
  return rows;
}

ResolvedSpec<Spec> row_spec(const SweepPlan& plan, const SweepRow& row, const LoadSpec& load) {
  ResolvedSpec<Spec> resolved = resolve_row(plan, base_tree(plan), row, load);
  const std::vector<RunName> names = names_of(resolved.spec);
  if (std::ranges::count(names, row.run_id, &RunName::run_id) == 0)
    throw DataError(
        "{}: its data, or the program's options, are not those of when it was planned: it would "
        "be run {}, not {}; put the data back, or plan another sweep",
        row_name(plan, row),
        names.front().run_id,
        row.run_id);
  return resolved;
}

std::string setting_text(const SweepPlan& plan, const SweepRow& row) {
  const std::vector<std::string> paths = varied_paths(plan);
  std::string text;
  for (const SweepSetting& setting : row.set)
    if (std::count(plan.fixed.begin(), plan.fixed.end(), setting.path) == 0)
      text += fmt::format("{}={} ",
                          short_path_of(setting.path, paths),
                          setting.value.is_scalar() ? setting.value.text : setting.value.flow());
  return text + fmt::format("seed={}", row.seed);
}

std::vector<std::string> varied_paths(const SweepPlan& plan) {
  std::vector<std::string> paths;
  for (const SweepParameter& parameter : plan.parameters)
    if (std::count(plan.fixed.begin(), plan.fixed.end(), parameter.path) == 0)
      paths.push_back(parameter.path);
  return paths;
}

std::string short_path_of(const std::string& path, const std::vector<std::string>& paths) {
  const std::string stem = path.ends_with(".type") ? path.substr(0, path.size() - 5) : path;
  for (std::size_t at = stem.rfind('.'); at != std::string::npos;
       at = at == 0 ? std::string::npos : stem.rfind('.', at - 1)) {
    const std::string end = path.substr(at + 1);
    if (std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
          return other == end || other.ends_with("." + end);
        }) <= 1)
      return stem.substr(at + 1);
  }
  return stem;
}

}  // namespace softalign
