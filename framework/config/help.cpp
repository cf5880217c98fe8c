#include "framework/config/help.hpp"

#include <fmt/ranges.h>

#include <array>

#include "framework/config/registry.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

std::string type_of(const OptionNode& node) {
  if (node.block) return "block";
  if (const auto* choice = std::get_if<Choice>(&node.value)) return choice->kind;
  // In the order of OptionNode::Leaf.
  constexpr std::array<const char*, 10> names = {"nothing",
                                                 "boolean",
                                                 "integer",
                                                 "number",
                                                 "text",
                                                 "list of integers",
                                                 "list of numbers",
                                                 "list of texts",
                                                 "file",
                                                 "file or list of files"};
  return names.at(node.value.index());
}

std::string legal_of(const OptionNode& node) {
  const auto* const choice = std::get_if<Choice>(&node.value);
  const std::string& kind = choice ? choice->kind : node.limits.plugins;
  if (kind.empty()) return limits_text(node.limits);
  std::vector<std::string> names;
  for (const PluginEntry* entry : Registry::instance().entries(kind)) names.push_back(entry->name);
  return fmt::format("{} {}", choice ? "one of" : "of", fmt::join(names, ", "));
}

bool must_be_given(const OptionNode& node) {
  return node.limits.required ||
         (std::holds_alternative<Choice>(node.value) && node.absent && !node.optional);
}

std::string default_of(const OptionNode& node) {
  if (must_be_given(node)) return "required";
  if (node.absent) return "null";
  return node.block ? "" : leaf_text(node.value);
}

void collect(const OptionNode& parent, std::vector<OptionHelp>& list) {
  for (const OptionNode& node : parent.children) {
    list.push_back(
        {node.path,
         type_of(node),
         default_of(node),
         legal_of(node),
         node.limits.changes_run ? node.help : node.help + "; does not change the run's id",
         must_be_given(node)});
    collect(node, list);
  }
}

}  // namespace

std::vector<OptionHelp> help_of(const Describe& describe) {
  std::vector<OptionHelp> list;
  collect(snapshot(describe, SnapshotOf::schema), list);
  return list;
}

}  // namespace softalign
