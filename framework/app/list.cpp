// softalign list [KIND]: the registered plugins, one line each.

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/kinds.hpp"
#include "framework/app/load.hpp"
#include "framework/app/table.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  std::string kind;
  std::vector<std::string> plugins;
  bool json = false;
};

void list(const Arguments& arguments) {
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  const Registry& registry = Registry::instance();
  const auto kinds =
      arguments.kind.empty() ? registry.kinds() : std::vector{kind_named(arguments.kind)};
  Json json = Json::array();
  Table table({{"kind"}, {"name"}, {"summary"}});
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
    fmt::print("{}", table.str());
}

}  // namespace

void add_list(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "list", "the plugins there are, one line each", "Plugins", "softalign list scores");
  command->add_option("kind", arguments->kind, "encoder, score, task, ..., or its plural");
  add_plugin_option(*command, arguments->plugins);
  command->add_flag("--json", arguments->json, "print them as JSON");
  command->callback([arguments] { list(*arguments); });
}

}  // namespace softalign::app
