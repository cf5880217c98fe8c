#include "framework/runs/run_list.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/analysis/differences.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign {
namespace {

constexpr std::size_t kBaseName = 16;  // hexadecimal digits

// Returns a row's settings as one text, which is equal for rows of one configuration.
std::string key_of(const ListedRun& row) {
  std::string key = row.part + "/" + row.variant + " " + row.base + "\n";
  for (const Override& change : row.set) key += change.path + "=" + change.value.flow() + "\n";
  return key;
}

}  // namespace

const std::string& RunList::add_base(Value tree) {
  const std::string hash_of_text = sha256_hex(block_text(tree));
  return bases.emplace(hash_of_text.substr(0, kBaseName), std::move(tree)).first->first;
}

void RunList::set(SweepSettings settings) {
  static_cast<SweepSettings&>(*this) = std::move(settings);
  std::set<std::string> paths;
  for (const SweepParameter& parameter : parameters)
    if (!parameter.is_finite() || parameter.values.size() != 1) paths.insert(parameter.path);
  varied = short_names(paths);
}

ResolvedSpec<Spec> resolve_row(const RunList& list,
                               const ListedRun& row,
                               const LoadSpec& load,
                               const std::string& compared) {
  const Position own{"the plan"};
  SpecTree tree{list.bases.at(row.base), {}};
  std::vector<Override> changes = row.set;
  const std::string name = list.run(row).root.parent_path().filename().string();
  changes.push_back(parse_override(fmt::format("seed={}", row.seed), own));
  changes.push_back(parse_override(fmt::format("name={}", name), own));
  for (const Override& change : changes) apply(tree.root, change, tree.notes);
  ResolvedSpec<Spec> resolved = load(std::move(tree));
  check_spec(resolved, compared);
  return resolved;
}

ResolvedSpec<Spec> row_spec(const RunList& list, const ListedRun& row, const LoadSpec& load) {
  ResolvedSpec<Spec> resolved = resolve_row(list, row, load);
  if (const std::string run_id = run_name(resolved.spec).run_id; run_id != row.run_id)
    throw DataError(
        "row {} ({}): its data or the program's options have changed since it was planned: it "
        "would be run {}, not {}; restore the data, or plan it again under another name",
        row.k,
        setting_text(list, row),
        run_id,
        row.run_id);
  return resolved;
}

void name_row(ListedRun& row, const Spec& spec) {
  row.run_id = run_name(spec).run_id;
  row.below = row.part.empty() ? row.run_id : (fs::path(spec.name) / row.run_id).string();
}

std::string setting_text(const RunList& list, const ListedRun& row) {
  return configuration_text(list, row) + fmt::format("seed={}", row.seed);
}

std::string configuration_text(const RunList& list, const ListedRun& row) {
  std::string text = row.part.empty() ? "" : row.part + "/" + row.variant + " ";
  for (const Override& change : row.set) {
    const auto name = list.varied.find(change.path);
    const bool is_parameter =
        std::ranges::count(list.parameters, change.path, &SweepParameter::path) > 0;
    if (name == list.varied.end() && is_parameter) continue;  // equal in all rows
    text += fmt::format("{}={} ",
                        is_parameter ? name->second : change.path,
                        change.value.is_scalar() ? change.value.text : change.value.flow());
  }
  return text;
}

std::vector<std::vector<std::size_t>> configurations(const RunList& list) {
  std::vector<std::vector<std::size_t>> found;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const auto [place, first] = places.emplace(key_of(list.rows[i]), found.size());
    if (first) found.emplace_back();
    found[place->second].push_back(i);
  }
  return found;
}

namespace {

// Skips options of a plugin that a later file has replaced, because the spec was read without them.
void freeze(Value& map, const OptionNode& options) {
  std::erase_if(map.entries, [&](Value::Entry& entry) {
    if (entry.key == "type") return false;
    const auto option = std::find_if(
        options.children.begin(), options.children.end(), [&](const OptionNode& child) {
          return child.name == entry.key;
        });
    if (option == options.children.end()) return true;
    if (entry.value.is_map()) freeze(entry.value, *option);
    return false;
  });
}

}  // namespace

void make_paths_whole(Value& written, const OptionNode& option) {
  const auto replace = [](Value& path, const InputFile& file) {
    if (!file.path.empty()) path = Value::scalar(file.path, path.where, true);
  };
  for (Value::Entry& entry : written.entries)
    for (const OptionNode& child : option.children)
      if (child.name == entry.key) make_paths_whole(entry.value, child);
  if (const auto* const file = std::get_if<InputFile>(&option.value)) replace(written, *file);
  if (const auto* const files = std::get_if<InputFiles>(&option.value)) {
    if (written.is_scalar() && files->size() == 1) replace(written, files->front());
    for (std::size_t i = 0; written.items.size() == files->size() && i < files->size(); ++i)
      replace(written.items[i], (*files)[i]);
  }
}

std::string block_text(const Value& map, const std::string& indent, const Comment& comment) {
  std::string text;
  for (const Value::Entry& entry : map.entries) {
    const bool block = entry.value.is_map() && !entry.value.entries.empty();
    text +=
        block ? fmt::format(
                    "{}{}:\n{}", indent, entry.key, block_text(entry.value, indent + "  ", comment))
              : fmt::format("{}{}: {}{}\n", indent, entry.key, entry.value.flow(), comment(entry));
  }
  return text;
}

Value frozen_base(Value tree, const Spec& resolved, const OptionNode& options) {
  std::erase_if(tree.entries, [](const Value::Entry& entry) {
    return entry.key == "seed" || entry.key == "name";
  });
  freeze(tree, options);
  make_paths_whole(
      tree, options);  // relative ones are relative to a file that a frozen spec does not have
  if (Value::Entry* const plugins = tree.find("plugins")) {
    plugins->value = plugins->value.as_list();
    for (std::size_t i = 0; i < plugins->value.items.size(); ++i)
      plugins->value.items[i] = Value::scalar(resolved.plugins.at(i), {}, true);
  }
  return tree;
}

void check_base(const fs::path& base, const Position& named_at) {
  std::error_code error;
  if (!fs::exists(base, error))
    throw SpecError("{}: no such spec: {}{}",
                    named_at.str(),
                    printable(base.string(), kWhole),
                    error ? ": " + error.message() : "");
  if (!fs::is_directory(base)) demand_regular_file(base);  // a pipe would block
}

void check_names_in(const ListFolder& list) {
  for (const fs::path& file : {list.plan(),
                               list.root / "optuna.journal",  // scripts/optuna_sweep.py's
                               list.root / "optuna.lock",
                               list.root / "optuna.workers"})
    check_file_type(file, fs::file_type::regular);
  for (const fs::path& folder :
       {list.bases(), list.logs(), list.failures(), list.corrupt(), list.jobs(), list.job_logs()})
    check_file_type(folder, fs::file_type::directory);
  for (const std::string& name : names_in(list.bases()))
    check_file_type(list.bases() / name, fs::file_type::regular);
  check_file_type(list.submitted(), fs::file_type::regular);
  for (const std::string& name : names_in(list.job_logs()))  // jobs append to them
    check_file_type(list.job_logs() / name, fs::file_type::regular);
}

void check_names_in(const ListFolder& list, const std::string& run_id, const fs::path& below) {
  fs::path folder = list.root;
  for (const fs::path& part : below) check_file_type(folder /= part, fs::file_type::directory);
  check_file_type(list.log(run_id), fs::file_type::regular);
  check_file_type(list.failure(run_id), fs::file_type::regular);
}

}  // namespace softalign
