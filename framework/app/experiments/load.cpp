#include "framework/app/experiments/load.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "framework/app/records/runs.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/path.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/record/provenance/trusted_plugins.hpp"
#include "framework/train/match.hpp"

namespace softalign::app {
namespace {

bool names_plugin(const Value& item) {
  return item.is_scalar() && !item.text.empty();  // else the reader says what is wrong with it
}

// The folder that a relative path is relative to.
fs::path base_folder(const Position& where) {
  return where.line > 0 ? fs::path(where.file).parent_path() : "";
}

// Gives an item of `plugins` its whole path.
void place(Value& item) {
  if (!names_plugin(item)) return;
  item.text = whole_path(base_folder(item.where) / item.text).string();
  item.quoted = true;
}

// The command line that this program was given, with more words in it.
std::string command_with(const std::string& more) {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text = "softalign", word;
  std::getline(in, word, '\0');
  bool put = false;
  while (std::getline(in, word, '\0')) {
    if (word == "--" && !put) text += more;  // behind it nothing is an option
    put |= word == "--";
    text += " " + shell_word(word);
  }
  return put ? text : text + more;
}

// A stranger's plugin. `all`: what `plugins` names.
void load_trusted(const std::string& path, const std::vector<Value>& all) {
  if (find_loaded_plugin(path)) return;
  const PluginFile file = [&] {
    try {
      return read_plugin(path);
    } catch (const SpecError& error) {
      throw SpecError("{}; --plugin FILE names another", error);
    }
  }();
  if (!is_trusted(file.sha256)) {
    std::string options;
    for (const Value& item : all)
      if (names_plugin(item)) options += " --plugin " + shell_word(item.text);
    const auto called_so = [&](const TrustedPlugin& plugin) {
      return plugin.path == printable(file.path, kWhole);
    };
    const bool changed =
        std::ranges::any_of(read_trusted_plugins(trusted_plugins_file()), called_so);
    throw SpecError(
        "{} (SHA-256 {}) is code that may come from anyone, and was not run: no --plugin names it, "
        "and {}; if you do, for once: {}, or from now on: softalign trust {}",
        file.path,
        file.sha256,
        changed ? "it has changed since you trusted it" : "you do not trust it yet",
        command_with(options),
        shell_word(file.path));
  }
  load_plugin(file);
}

// The options that name a run, as blocks within each other.
const std::vector<std::string> kRuns[] = {
    {"init", "from"}, {"task", "vocabulary", "from"}, {"task", "vocabulary", "target_from"}};

// Gives the run's folder to each of them that is the beginning of a run's ID.
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
      *run = Value::scalar(whole_path(find_run({run->text, results})).string(), run->where, true);
    } catch (const SpecError& error) {
      throw SpecError("{}: {}: {}", run->where.str(), fmt::join(path, "."), error);
    }
  }
}

// `all`: the list that the item is in.
void load_item(const Value& item, Word word, const std::vector<Value>& all) {
  if (!names_plugin(item)) return;
  try {
    if (word == Word::user)
      load_plugin(item.text);
    else
      load_trusted(item.text, all);
  } catch (const SpecError& error) {
    if (item.where.line == 0) throw;
    throw SpecError("{}: plugins: {}", item.where.str(), error);
  }
}

}  // namespace

void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins, const char* help) {
  command.add_option("--plugin", plugins, help)
      ->allow_extra_args(false)  // what follows is the next argument
      ->check([](const std::string& file) {
        return file.empty() ? std::string("no file is named; give the path of a plugin's .so file")
                            : std::string();
      });
}

void add_threads_option(CLI::App& command, int& threads, const char* help) {
  command.add_option("--threads", threads, help)->check(integer(between(0, 1024)));
}

void add_size_option(CLI::App& command, SizeCheck& sizes) {
  command.add_flag_callback(
      "--no-size-check",
      [&sizes] { sizes.refuse = false; },
      "go on although more memory would be needed than there is");
}

void SpecArguments::add_to(CLI::App& command) {
  command.add_option("spec", file, "the experiment's YAML file")->required();
  command.add_option(
      "overrides",
      overrides,
      "changes to it: train.epochs=3 model.attention.score.type=dot; ~train.epochs takes "
      "the file's value away, so that the default holds");
  add_plugin_option(command, plugins);
}

void load_plugins(Value& root, const std::vector<std::string>& more, Word word) {
  if (Value::Entry* entry = root.find("plugins")) {
    entry->value = entry->value.as_list();
    std::vector<Value>& items = entry->value.items;
    if (word == Word::stranger && !more.empty()) items.clear();  // the user speaks in its place
    std::for_each(items.begin(), items.end(), place);
    for (const Value& item : items) load_item(item, word, items);
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
    load_item(item, Word::user, {});
    const bool there = std::any_of(list.items.begin(), list.items.end(), [&](const Value& other) {
      return other.text == item.text;
    });
    if (list.is_list() && !there) list.items.push_back(std::move(item));
  }
}

std::vector<std::string> named_plugins() {
  std::vector<std::string> files;
  for (const LoadedPlugin& plugin : loaded_plugins())
    if (!plugin.from_bytes) files.push_back(plugin.path);
  return files;
}

bool is_override(std::string_view argument) {
  return argument.find('=') != argument.npos || argument.starts_with('~');
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
}

ResolvedSpec<Spec> load(SpecTree tree,
                        const std::vector<std::string>& more,
                        const std::string& results,
                        Word word) {
  load_plugins(tree.root, more, word);
  find_named_runs(tree.root, results);
  return resolve<Spec>(std::move(tree));
}

ResolvedSpec<Spec> load(const SpecArguments& arguments, const std::string& results) {
  auto resolved = load(load_to_match(arguments.file, numbered_overrides(arguments.overrides)),
                       arguments.plugins,
                       results);
  print_notes(resolved.notes);
  return resolved;
}

}  // namespace softalign::app
