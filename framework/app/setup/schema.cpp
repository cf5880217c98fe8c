// softalign schema: prints a JSON Schema, by which editors complete and check YAML.
#include "framework/config/schema.hpp"

#include <nlohmann/json.hpp>

#include "framework/app/command.hpp"
#include "framework/app/plugins/plugins.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/study/schema.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {
namespace {

JsonObject spec_schema() {
  JsonObject schema = schema_of(Spec());
  const JsonObject file = {{"type", "string"}};
  schema["properties"]["extends"] = {{"description", "files whose values this one inherits"},
                                     {"anyOf", {file, {{"type", "array"}, {"items", file}}}}};
  return whole_schema("an experiment of softalign", std::move(schema), schema_definitions());
}

}  // namespace

void add_schema(CLI::App& app, Outcome&) {
  struct Arguments {
    std::string what = "spec";
    std::vector<std::string> plugins;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app,
                  "schema",
                  "print the JSON Schema with which editors complete and check YAML",
                  "Setup",
                  "softalign schema > spec.schema.json\n\nAn editor with a YAML language server "
                  "uses the schema if a spec begins with this line:\n  # yaml-language-server: "
                  "$schema=spec.schema.json");
  command->add_option("what", arguments->what, "spec, sweep or study (a sweep with variants)")
      ->check(CLI::IsMember({"spec", "sweep", "study"}))
      ->capture_default_str();
  add_plugin_option(*command, arguments->plugins);
  command->callback([arguments] {
    for (const std::string& plugin : arguments->plugins) load_plugin(plugin);
    print_json(arguments->what == "spec" ? spec_schema() : sweep_schema());
  });
}

}  // namespace softalign::app
