#include "framework/sweep/frozen_base.hpp"

#include <algorithm>
#include <filesystem>

#include "framework/base/regular_file.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

// Leaves out options of a type that a file over the first has changed: the spec was read without them. Makes
// paths absolute: relative ones are relative to the file that names them, and a frozen spec has no such file.
void freeze(Value& map, const OptionNode& options) {
  std::erase_if(map.entries, [&](Value::Entry& entry) {
    if (entry.key == "type") return false;
    const auto option = std::find_if(
        options.children.begin(), options.children.end(), [&](const OptionNode& child) {
          return child.name == entry.key;
        });
    if (option == options.children.end()) return true;
    const auto* const file = std::get_if<InputFile>(&option->value);
    if (entry.value.is_map()) {
      freeze(entry.value, *option);
    } else if (file && !file->path.empty()) {
      entry.value.text = file->path;
      entry.value.quoted = true;
    }
    return false;
  });
}

}  // namespace

std::string block_text(const Value& map, const std::string& indent) {
  std::string text;
  for (const Value::Entry& entry : map.entries) {
    const bool block = entry.value.is_map() && !entry.value.entries.empty();
    text +=
        block ? fmt::format("{}{}:\n{}", indent, entry.key, block_text(entry.value, indent + "  "))
              : fmt::format("{}{}: {}\n", indent, entry.key, entry.value.flow());
  }
  return text;
}

Value frozen_base(const Sweep& sweep, const LoadSpec& load, OptionNode& options) {
  if (!fs::exists(sweep.base))
    throw SpecError("{}: there is no spec {}",
                    sweep.base_named_at.str(),
                    printable(sweep.base.string(), kWhole));
  if (!fs::is_directory(sweep.base)) demand_regular_file(sweep.base);  // nobody waits for a pipe
  SpecTree tree = load_tree(sweep.base);
  const ResolvedSpec<Spec> resolved = load(tree);
  options = values_of(resolved.spec);
  freeze(tree.root, options);
  if (Value::Entry* const plugins = tree.root.find("plugins"); plugins && plugins->value.is_list())
    for (std::size_t i = 0; i < plugins->value.items.size(); ++i)
      plugins->value.items[i] = Value::scalar(resolved.spec.plugins.at(i), {}, true);
  return tree.root;
}

}  // namespace softalign
