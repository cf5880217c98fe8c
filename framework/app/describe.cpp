// softalign describe KIND NAME, describe spec: what a plugin is and which options it has.

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/kinds.hpp"
#include "framework/app/plugin_notes.hpp"
#include "framework/config/help.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {
namespace {

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

void describe(const PluginArguments& arguments) {
  arguments.load();
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
                       {"note", plugin_note(source_of(entry))},
                       {"options", json_of(options)}};
    print_json(json);
    return;
  }
  const std::string_view note = plugin_note(source_of(entry));
  fmt::print("{} {}: {}\n{}\n\n{}{}{}",
             kind,
             entry.name,
             entry.summary,
             source_of(entry),
             note,
             note.empty() ? "" : "\n",
             help_table(options));
}

}  // namespace

void add_describe(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<PluginArguments>();
  CLI::App* command = add_command(app,
                                  "describe",
                                  "what a plugin is, and its options; or all keys of a spec",
                                  "Plugins",
                                  "softalign describe score additive; softalign describe spec");
  arguments->add_to(*command, "encoder, score, task, ..., or spec", "the plugin's name");
  command->get_option("kind")->required();
  command->callback([arguments] { describe(*arguments); });
}

}  // namespace softalign::app
