// softalign list, describe, check: commands about plugins.
#include "framework/app/plugins/plugins.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <unistd.h>
#include <algorithm>

#include "framework/app/command.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/config/help.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/metric_conformance.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

std::string plural(const std::string& kind) {
  return kind + (kind.ends_with("ch") || kind.ends_with('s') ? "es" : "s");
}

std::string kind_named(const std::string& given) {
  const std::vector<std::string> kinds = Registry::instance().kinds();
  for (const std::string& kind : kinds)
    if (given == kind || given == plural(kind)) return kind;
  for (const std::string& kind : kinds)
    if (Registry::instance().find_if_present(kind, given))
      throw SpecError("'{}' is the name of a plugin, not a kind; write {} {}", given, kind, given);
  throw SpecError("unknown kind '{}'{}", printable(given), suggestion(given, kinds));
}

void PluginArguments::add_to(CLI::App& command, const char* kind_help, const char* name_help) {
  command.add_option("kind", kind, kind_help);
  if (name_help != nullptr) command.add_option("name", name, name_help);
  add_plugin_option(command, plugins);
  command.add_flag("--json", json, "print JSON");
}

void PluginArguments::load() const {
  for (const std::string& plugin : plugins) load_plugin(plugin);
}

std::string source_of(const PluginEntry& entry) {
  const std::size_t ours = entry.source.rfind("framework/plugins/");
  return ours == std::string::npos ? entry.source : entry.source.substr(ours);
}

// softalign list [KIND]: lists the registered plugins, one line each.

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
  CLI::App* command =
      add_command(app, "list", "list the plugins of each kind", "Plugins", "softalign list scores");
  arguments->add_to(*command, "kind of plugin: encoder, score, task, ...");
  command->callback([arguments] { list(*arguments); });
}

// softalign check KIND [NAME], check all: runs the conformance tests on plugins.

namespace {

std::vector<const PluginEntry*> chosen(const PluginArguments& arguments) {
  const Registry& registry = Registry::instance();
  if (arguments.kind != "all") {
    const std::string kind = kind_named(arguments.kind);
    if (!arguments.name.empty()) return {&registry.find(kind, arguments.name)};
    return registry.entries(kind);
  }
  if (!arguments.name.empty())
    throw SpecError("`check all` takes no name; write `check KIND {}`", arguments.name);
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
                  "test a plugin: gradients, padding, bits",
                  "Plugins",
                  "softalign check score angular --plugin angular.so; softalign check all");
  arguments->add_to(*command,
                    "kind of plugin: encoder, score, ..., or all",
                    "name of the plugin (default: all of the kind)");
  command->get_option("kind")->required();
  command->callback([arguments, &outcome] { check(*arguments, outcome); });
}

// softalign describe KIND NAME, describe spec: describes a plugin and its options, or the keys of a spec.

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

// Rewraps text that is too wide for standard output: paragraphs and list items ("- ..", indented from their second
// line on) that were broken for their length are refilled; other indented lines, formulas, are unchanged.
std::string fitted(std::string_view text) {
  constexpr std::size_t kFull = 80;  // a line of this width was broken because it was full
  const std::size_t columns = output_columns();
  struct Part {
    std::string text, indent;  // indent: from the second line on
    bool formula = false;
  };
  std::vector<Part> parts;
  std::size_t before = 0, widest = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    const bool item = line.starts_with("- "), indented = line.starts_with(' ');
    if (before >= kFull && !line.empty() && !item && !parts.back().formula &&
        indented == !parts.back().indent.empty())
      parts.back().text += " " + line.substr(parts.back().indent.size());
    else
      parts.push_back({line, item ? "  " : "", indented});
    before = columns_of(line);
    widest = std::max(widest, before);
  }
  if (widest <= columns) return std::string(text);
  std::string out;
  for (const Part& part : parts) {
    if (part.formula) {
      out += part.text + "\n";
      continue;
    }
    std::string indent;
    for (const std::string& line : wrapped(part.text, columns - part.indent.size())) {
      out += indent + line + "\n";
      indent = part.indent;
    }
  }
  return out;
}

// Lists options with type and default, and below each option its limits and help.
std::string option_list(const std::vector<OptionHelp>& options, std::size_t columns) {
  const std::string indent(4, ' ');
  std::string out;
  for (const OptionHelp& o : options) {
    const std::string given = o.required                ? ", required"
                              : o.default_value.empty() ? ""
                                                        : ", default " + o.default_value;
    for (const std::string& line : wrapped(o.path + ": " + o.type + given, columns))
      out += line + "\n";
    for (const std::string& text : {o.legal, o.help})
      for (const std::string& line : wrapped(text, columns - std::min(columns, indent.size())))
        if (!line.empty()) out += indent + line + "\n";
  }
  return out;
}

std::string option_table(const std::vector<OptionHelp>& options) {
  if (options.empty()) return "no options\n";
  constexpr std::size_t kLegal = 16, kHelp = 20;
  Table table({{"option"},
               {"type"},
               {"default"},
               {"legal", Side::left, kLegal, 0, true},
               {"help", Side::left, kHelp, 0, true}});
  std::size_t path = 0, type = 0, value = 0;
  for (const OptionHelp& o : options) {
    table.row({o.path, o.type, o.default_value, o.legal, o.help});
    path = std::max(path, columns_of(o.path));
    type = std::max(type, columns_of(o.type));
    value = std::max(value, columns_of(o.default_value));
  }
  const std::size_t columns = output_columns();
  const bool fits = path + type + value + kLegal + kHelp + 8 <= columns;
  return fits ? table.str(columns) : option_list(options, columns);
}

// Describes the value of a metric, and the columns that it counts for each sentence.
Json json_of(const Metric& metric) {
  const MetricFacts facts = metric.facts();
  Json json = {{"title", facts.title},
               {"units", facts.units},
               {"least", facts.least},
               {"most", facts.most},
               {"higher_is_better", nullptr},
               {"columns", Json::array()}};
  if (facts.higher_is_better) json["higher_is_better"] = *facts.higher_is_better;
  for (const CountColumn& column : metric.columns())
    json["columns"].push_back({{"name", column.name},
                               {"count_source", name_of(column.source)},
                               {"width", column.width},
                               {"units", column.units},
                               {"long_name", column.long_name}});
  return json;
}

std::string text_of(const Metric& metric) {
  const MetricFacts facts = metric.facts();
  const char* good = !facts.higher_is_better   ? "neither end is good"
                     : *facts.higher_is_better ? "higher is better"
                                               : "lower is better";
  Table table({{"column"},
               {"counted off"},
               {"numbers", Side::right},
               {"unit"},
               {"what it is", Side::left, 20, 0, true}});
  for (const CountColumn& column : metric.columns())
    table.row({column.name,
               name_of(column.source),
               fmt::to_string(column.width),
               column.units,
               column.long_name});
  return fmt::format("{}, {} to {} ({}): {}\n\n{}\n",
                     facts.title,
                     facts.least,
                     facts.most,
                     facts.units,
                     good,
                     table.fitted());
}

// Describes the arrays that a diagnostic finds with default options.
Json json_of(const Diagnostic& diagnostic) {
  Json list = Json::array();
  for (const FoundArray& array : diagnostic.arrays())
    list.push_back({{"name", array.name},
                    {"axes", array.axes},
                    {"units", array.units},
                    {"long_name", array.long_name}});
  return list;
}

std::string text_of(const Diagnostic& diagnostic) {
  Table table({{"array"}, {"axes"}, {"unit"}, {"what it is", Side::left, 20, 0, true}});
  for (const FoundArray& array : diagnostic.arrays())
    table.row(
        {array.name, fmt::format("{}", fmt::join(array.axes, ", ")), array.units, array.long_name});
  return table.fitted() + "\n";
}

void describe(const PluginArguments& arguments) {
  arguments.load();
  if (arguments.kind == "spec") {
    std::vector<OptionHelp> options = option_help(Spec());
    if (const std::string& key = arguments.name; !key.empty()) {
      std::erase_if(options, [&](const OptionHelp& option) {
        return option.path != key && !option.path.starts_with(key + ".");
      });
      if (options.empty())
        throw SpecError(
            "unknown key '{}'; softalign describe spec lists all but those of plugins, which "
            "softalign describe KIND NAME lists",
            printable(key));
    }
    if (arguments.json)
      print_json(json_of(options));
    else
      print_text("{}\n{}",
                 fitted("The keys of a spec; `softalign describe KIND NAME` lists those of a "
                        "plugin. A file may begin with\nextends: FILE or [FILE, ...], to inherit "
                        "the values of these files.\n"),
                 option_table(options));
    return;
  }
  const std::string kind = kind_named(arguments.kind);
  if (arguments.name.empty())
    throw SpecError("describe which {}? softalign list {} shows their names", kind, plural(kind));
  const PluginEntry& entry = Registry::instance().find(kind, arguments.name);
  const auto options = option_help(*entry.options());
  const std::unique_ptr<Metric> metric =
      kind == MetricKind::name ? metric_named(entry.name) : nullptr;
  const std::unique_ptr<Diagnostic> diagnostic =
      kind == DiagnosticKind::name
          ? make_plugin<DiagnosticKind>(
                {.kind = kind, .type = entry.name, .options = entry.options()})
          : nullptr;
  if (arguments.json) {
    Json json = {{"kind", kind},
                 {"name", entry.name},
                 {"summary", entry.summary},
                 {"source", source_of(entry)},
                 {"note", plugin_note(source_of(entry))},
                 {"options", json_of(options)}};
    if (metric) json["metric"] = json_of(*metric);
    if (diagnostic) json["arrays"] = json_of(*diagnostic);
    print_json(json);
    return;
  }
  const std::string_view note = plugin_note(source_of(entry));
  print_text("{}{}\n\n{}{}{}{}",
             fitted(fmt::format("{} {}: {}\n", kind, entry.name, entry.summary)),
             source_of(entry),
             fitted(note),
             note.empty() ? "" : "\n",
             metric       ? text_of(*metric)
             : diagnostic ? text_of(*diagnostic)
                          : "",
             option_table(options));
}

}  // namespace

void add_describe(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<PluginArguments>();
  CLI::App* command =
      add_command(app,
                  "describe",
                  "explain a plugin and its options, or the keys of a spec",
                  "Plugins",
                  "softalign describe score additive; softalign describe spec train.batch");
  arguments->add_to(*command,
                    "kind of plugin: encoder, score, task, ..., or spec",
                    "name of the plugin, or a key of the spec");
  command->get_option("kind")->required();
  command->callback([arguments] { describe(*arguments); });
}

}  // namespace softalign::app
