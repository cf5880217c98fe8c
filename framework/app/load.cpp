#include "framework/app/load.hpp"

#include <algorithm>
#include <filesystem>

#include "framework/app/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
namespace {

namespace fs = std::filesystem;

// Loads the plugin of one item and gives the item its whole path.
void load_item(Value& item) {
  if (!item.is_scalar() || item.text.empty()) return;  // the reader says what is wrong with it
  const fs::path folder = item.where.line > 0 ? fs::path(item.where.file).parent_path() : "";
  item.text = fs::absolute(folder / item.text).lexically_normal().string();
  item.quoted = true;
  try {
    load_plugin(item.text);
  } catch (const SpecError& error) {
    if (item.where.line == 0) throw;
    throw SpecError("{}: plugins: {}", item.where.str(), error.what());
  }
}

}  // namespace

void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins) {
  command.add_option("--plugin", plugins, "shared object with further plugins; may be repeated")
      ->allow_extra_args(false)  // what follows is the next argument
      ->check([](const std::string& file) {
        return file.empty() ? std::string("no file is named; give the path of a plugin's .so file")
                            : std::string();
      });
}

void add_threads_option(CLI::App& command, int& threads, const char* help) {
  command.add_option("--threads", threads, help)->check(CLI::Range(1, 1024));
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

void load_plugins(Value& root, const std::vector<std::string>& more) {
  if (Value::Entry* entry = root.find("plugins"); entry && entry->value.is_list())
    for (Value& item : entry->value.items) load_item(item);
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
    load_item(item);
    const bool there = std::any_of(list.items.begin(), list.items.end(), [&](const Value& other) {
      return other.text == item.text;
    });
    if (list.is_list() && !there) list.items.push_back(std::move(item));
  }
}

bool is_override(std::string_view argument) {
  return argument.find('=') != argument.npos || argument.starts_with('~');
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
}

ResolvedSpec<Spec> load(SpecTree tree, const std::vector<std::string>& more) {
  load_plugins(tree.root, more);
  return resolve<Spec>(std::move(tree));
}

ResolvedSpec<Spec> load(const SpecArguments& arguments) {
  auto resolved =
      load(load_tree(arguments.file, numbered_overrides(arguments.overrides)), arguments.plugins);
  print_notes(resolved.notes);
  return resolved;
}

}  // namespace softalign::app
