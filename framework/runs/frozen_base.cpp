#include "framework/runs/frozen_base.hpp"

#include <algorithm>
#include <filesystem>

#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

// Leaves out options of a type that a file over the first has changed: the spec was read without them.
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
    throw SpecError("{}: there is no spec {}{}",
                    named_at.str(),
                    printable(base.string(), kWhole),
                    error ? ": " + error.message() : "");
  if (!fs::is_directory(base)) demand_regular_file(base);  // nobody waits for a pipe
}

}  // namespace softalign
