// softalign check KIND [NAME], check all: the laws that every plugin must keep, tried on it.

#include <algorithm>

#include "framework/app/command.hpp"
#include "framework/app/plugins/kinds.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/eval/metric_conformance.hpp"

namespace softalign::app {
namespace {

std::vector<const PluginEntry*> chosen(const PluginArguments& arguments) {
  const Registry& registry = Registry::instance();
  if (arguments.kind != "all") {
    const std::string kind = kind_named(arguments.kind);
    if (!arguments.name.empty()) return {&registry.find(kind, arguments.name)};
    return registry.entries(kind);
  }
  if (!arguments.name.empty())
    throw SpecError("check all takes no name; write check KIND {}", arguments.name);
  std::vector<const PluginEntry*> all;
  for (const std::string& kind : registry.kinds())
    for (const PluginEntry* entry : registry.entries(kind)) all.push_back(entry);
  return all;
}

std::vector<ConformanceResult> laws_of(const PluginEntry& plugin) {
  std::vector<ConformanceResult> results = check_conformance(plugin.kind, plugin.name);
  if (plugin.kind != MetricKind::name) return results;
  for (ConformanceResult& result : check_metric(*metric_named(plugin.name)))
    results.push_back(std::move(result));
  return results;
}

void check(const PluginArguments& arguments, Outcome& outcome) {
  arguments.load();
  Json json = Json::array();
  Table table({{"plugin"}, {"check"}, {"result"}, {"detail", Side::left, 20}});
  int failed = 0, checks = 0;
  const auto plugins = chosen(arguments);
  for (const PluginEntry* plugin : plugins)
    for (const ConformanceResult& result : laws_of(*plugin)) {
      ++checks;
      failed += result.passed ? 0 : 1;
      json.push_back({{"kind", plugin->kind},
                      {"name", plugin->name},
                      {"check", result.check},
                      {"passed", result.passed},
                      {"detail", result.detail}});
      std::string detail = result.detail;
      std::replace(detail.begin(), detail.end(), '\n', ' ');
      table.row({plugin->kind + " " + plugin->name,
                 result.check,
                 result.passed ? "passed" : "FAILED",
                 detail});
    }
  if (failed > 0) outcome.code = ExitCode::check;
  if (arguments.json) {
    print_json(json);
    return;
  }
  print_text("{}{} of {} checks passed\n", table.fitted(), checks - failed, checks);
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<PluginArguments>();
  CLI::App* command =
      add_command(app,
                  "check",
                  "try on a plugin the laws that every one must keep: gradients, padding, bits",
                  "Plugins",
                  "softalign check score angular --plugin angular.so; softalign check all");
  arguments->add_to(
      *command, "encoder, score, ..., or all", "the plugin's name (default: all of the kind)");
  command->get_option("kind")->required();
  command->callback([arguments, &outcome] { check(*arguments, outcome); });
}

}  // namespace softalign::app
