#include "framework/train/load_spec.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <filesystem>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/record/folder/runs_below.hpp"

namespace softalign {
namespace {

bool names_plugin(const Value& item) {
  return item.is_scalar() && !item.text.empty();  // otherwise the reader reports the error
}

// Returns the folder that a relative path is relative to.
fs::path base_folder(const Position& where) {
  return where.line > 0 ? fs::path(where.file).parent_path() : "";
}

// Makes the path of an item of `plugins` absolute.
void place(Value& item) {
  if (!names_plugin(item)) return;
  item.text = whole_path(base_folder(item.where) / item.text).string();
  item.quoted = true;
}

// Returns the options for the plugins of a list: "--plugin a.so --plugin b.so".
std::string options_for(const std::vector<Value>& plugins) {
  std::vector<std::string> words;
  for (const Value& plugin : plugins)
    if (names_plugin(plugin)) words.push_back("--plugin " + shell_word(plugin.text));
  return fmt::format("{}", fmt::join(words, " "));
}

// Paths of the options that may name a run.
const std::vector<std::string> kRuns[] = {
    {"init", "from"}, {"task", "vocabulary", "from"}, {"task", "vocabulary", "target_from"}};

// Replaces each option of kRuns that is a prefix of a run ID by the run's folder.
void find_named_runs(Value& root, const std::string& results) {
  for (const std::vector<std::string>& path : kRuns) {
    Value* run = &root;
    for (const std::string& key : path) {
      Value::Entry* const entry = run ? run->find(key) : nullptr;
      run = entry ? &entry->value : nullptr;
    }
    if (!run || run->text.empty()) continue;
    const bool like_id = run->text.find_first_not_of("0123456789abcdef") == std::string::npos;
    std::error_code none;
    if (!like_id || fs::exists(base_folder(run->where) / run->text, none)) continue;
    try {
      *run = Value::scalar(whole_path(find_run(run->text, results)).string(), run->where, true);
    } catch (const SpecError& error) {
      throw SpecError("{}: {}: {}", run->where.str(), fmt::join(path, "."), error);
    }
  }
}

// Loads a plugin, or if `named` is refuse, throws SpecError unless it is loaded. all: the item's list, for the hint.
void load_item(const Value& item, NamedPlugins named, const std::vector<Value>& all) {
  if (!names_plugin(item)) return;
  try {
    if (named == NamedPlugins::load)
      load_plugin(item.text);
    else if (!find_loaded_plugin(item.text))
      throw SpecError(
          "refusing to load untrusted plugin {}; if you trust it: {}", item.text, options_for(all));
  } catch (const SpecError& error) {
    if (item.where.line == 0) throw;
    throw SpecError("{}: plugins: {}", item.where.str(), error);
  }
}

}  // namespace

void load_plugins(Value& root, const std::vector<std::string>& more, NamedPlugins named) {
  if (Value::Entry* entry = root.find("plugins")) {
    entry->value = entry->value.as_list();
    std::vector<Value>& items = entry->value.items;
    if (named == NamedPlugins::refuse && !more.empty()) items.clear();  // `more` replaces it
    std::for_each(items.begin(), items.end(), place);
    for (const Value& item : items) load_item(item, named, items);
  }
  if (more.empty()) return;

  const Position origin{"--plugin"};
  if (!root.find("plugins")) {
    Value list;
    list.type = Value::Type::list;
    list.where = origin;
    root.entries.push_back({"plugins", origin, std::move(list)});
  }
  Value& list = root.find("plugins")->value;
  for (const std::string& plugin : more) {
    Value item = Value::scalar(plugin, origin);
    place(item);
    load_item(item, NamedPlugins::load, {});
    const bool there = std::any_of(list.items.begin(), list.items.end(), [&](const Value& other) {
      return other.text == item.text;
    });
    if (list.is_list() && !there) list.items.push_back(std::move(item));
  }
}

std::vector<std::string> named_plugins() {
  std::vector<std::string> files;
  for (const LoadedPlugin& plugin : loaded_plugins()) files.push_back(plugin.path);
  return files;
}

ResolvedSpec<Spec> load_with_plugins(SpecTree tree,
                                     const std::vector<std::string>& more,
                                     const std::string& results,
                                     NamedPlugins named) {
  load_plugins(tree.root, more, named);
  find_named_runs(tree.root, results);
  return resolve<Spec>(std::move(tree));
}

}  // namespace softalign
