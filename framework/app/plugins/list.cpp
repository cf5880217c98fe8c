// softalign list [KIND]: the registered plugins, one line each.

#include "framework/app/command.hpp"
#include "framework/app/plugins/kinds.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/table.hpp"

namespace softalign::app {
namespace {

void list(const PluginArguments& arguments) {
  arguments.load();
  const Registry& registry = Registry::instance();
  const auto kinds =
      arguments.kind.empty() ? registry.kinds() : std::vector{kind_named(arguments.kind)};
  Json json = Json::array();
  Table table({{"kind"}, {"name"}, {"summary", Side::left, 20, 0, true}});
  for (const std::string& kind : kinds)
    for (const PluginEntry* entry : registry.entries(kind)) {
      json.push_back({{"kind", kind},
                      {"name", entry->name},
                      {"summary", entry->summary},
                      {"source", source_of(*entry)}});
      table.row({kind, entry->name, entry->summary});
    }
  if (arguments.json)
    print_json(json);
  else
    print_text("{}", table.fitted());
}

}  // namespace

void add_list(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<PluginArguments>();
  CLI::App* command = add_command(
      app, "list", "the plugins there are, one line each", "Plugins", "softalign list scores");
  arguments->add_to(*command, "encoder, score, task, ..., or its plural");
  command->callback([arguments] { list(*arguments); });
}

}  // namespace softalign::app
