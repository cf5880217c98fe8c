// softalign describe KIND NAME, describe spec: what a plugin is and which options it has.

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/kinds.hpp"
#include "framework/app/load.hpp"
#include "framework/config/help.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  std::string kind;
  std::string name;
  std::vector<std::string> plugins;
  bool json = false;
};

Json json_of(const std::vector<OptionHelp>& options) {
  Json list = Json::array();
  for (const OptionHelp& option : options)
    list.push_back({{"option", option.path},
                    {"type", option.type},
                    {"default", option.default_value},
                    {"legal", option.legal},
                    {"required", option.required},
                    {"help", option.help}});
  return list;
}

void describe(const Arguments& arguments) {
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  if (arguments.kind == "spec") {
    const auto options = option_help(Spec{});
    if (arguments.json)
      print_json(json_of(options));
    else
      fmt::print("The keys of a spec; softalign describe KIND NAME shows those of a plugin.\n\n{}",
                 help_table(options));
    return;
  }
  const std::string kind = kind_named(arguments.kind);
  if (arguments.name.empty())
    throw SpecError("describe which {}? softalign list {} shows their names", kind, plural(kind));
  const PluginEntry& entry = Registry::instance().find(kind, arguments.name);
  const auto options = option_help(*entry.options());
  if (arguments.json) {
    const Json json = {{"kind", kind},
                       {"name", entry.name},
                       {"summary", entry.summary},
                       {"source", source_of(entry)},
                       {"options", json_of(options)}};
    print_json(json);
    return;
  }
  fmt::print("{} {}: {}\n{}\n\n{}",
             kind,
             entry.name,
             entry.summary,
             source_of(entry),
             help_table(options));
}

}  // namespace

void add_describe(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app,
                                  "describe",
                                  "what a plugin is, and its options; or all keys of a spec",
                                  "Plugins",
                                  "softalign describe score additive; softalign describe spec");
  command->add_option("kind", arguments->kind, "encoder, score, task, ..., or spec")->required();
  command->add_option("name", arguments->name, "the plugin's name");
  add_plugin_option(*command, arguments->plugins);
  command->add_flag("--json", arguments->json, "print it as JSON");
  command->callback([arguments] { describe(*arguments); });
}

}  // namespace softalign::app
