// softalign ls [DIR]: the runs below a folder, one line each. A run that cannot be read has its
// line too.
#include <algorithm>
#include <cmath>

#include "framework/app/command.hpp"
#include "framework/app/records/ls_lines.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/base/machine.hpp"

namespace softalign::app {
namespace {

struct LsArguments {
  std::string folder = "results";
  std::vector<std::string> states;
  std::string sort;
  bool json = false;
};

std::string age(const RunStatus& status) {
  return status.heartbeat > 0 ? rough_time(std::max(0.0, unix_time() - status.heartbeat)) : "-";
}

std::string rough(double number) {
  return std::isnan(number) ? "-" : fmt::format("{:.0f}", number);
}

Json json_of(const Line& line) {
  const RunSummary& run = line.summary;
  Json json = {{"name", run.name},
               {"run_id", run.run_id},
               {"folder", run.run.root.string()},
               {"state", run.state()},
               {"updates", run.status.last_update},
               {"heartbeat", run.status.heartbeat}};
  if (!run.fault.empty()) json["fault"] = run.fault;
  json["differs"] = Json::object();
  for (const auto& [path, value] : line.difference) json["differs"][path] = value;
  Json last = Json::object();
  for (const auto& [name, value] : run.status.metrics) last[name] = value;
  json["last"] = std::move(last);
  if (!run.test.rows.empty()) json["test"] = metrics_json(run.test).at("all");
  return json;
}

void print_lines_as_json(const std::vector<Line>& lines) {
  Json json = Json::array();
  for (const Line& line : lines) json.push_back(json_of(line));
  print_json(json);
}

void print_table(const std::vector<Line>& lines) {
  const bool differ = std::any_of(
      lines.begin(), lines.end(), [](const Line& line) { return !line.difference.empty(); });
  std::vector<Table::Column> columns = {{"name", Side::left, 12},
                                        {"run"},
                                        {"state"},
                                        {"updates", Side::right},
                                        {"dev loss", Side::right, 0, 3},
                                        {"dev bleu", Side::right, 0, 4},
                                        {"test accuracy", Side::right, 0, 1},
                                        {"test bleu", Side::right, 0, 2},
                                        {"tokens/s", Side::right, 0, 6},
                                        {"MB", Side::right, 0, 7},
                                        {"age", Side::right, 0, 5}};
  if (differ) columns.push_back({"differs in", Side::left, 16});
  Table table(columns);
  for (const Line& line : lines) {
    const RunSummary& run = line.summary;
    std::vector<std::string> cells = {
        run.name,
        run.run_id,
        run.state(),
        fmt::format("{}", run.status.last_update),
        metric_text(dev_value(run, "loss"), "loss"),
        metric_text(dev_value(run, "bleu"), "bleu"),
        metric_text(test_value(run, "token_accuracy"), "token_accuracy"),
        metric_text(test_value(run, "bleu"), "bleu"),
        rough(last_value(run, "system/tokens_per_s")),
        rough(last_value(run, "system/memory_mb")),
        age(run.status)};
    if (differ) cells.push_back(line.differs);
    table.row(std::move(cells));
  }
  print_text("{}", table.fitted());
}

// Failed where some run, or what may hold runs, cannot be read.
ExitCode ls(const LsArguments& arguments) {
  std::vector<Line> lines = lines_below(arguments.folder);
  const bool any = !lines.empty();
  ExitCode code = ExitCode::done;
  for (const Line& line : lines)
    if (!line.summary.fault.empty() && line.summary.fault_state == RunState::unreadable)
      code = ExitCode::failed;
  sort_lines(lines, arguments.sort);
  keep_states(lines, arguments.states);
  std::string faults;
  for (const Line& line : lines)
    if (!line.summary.fault.empty()) faults += line.summary.fault + "\n";
  if (arguments.json)
    print_lines_as_json(lines);
  else if (lines.empty())
    print_text(
        "no runs below {}{}\n", printable(arguments.folder, kWhole), any ? " in such a state" : "");
  else
    print_table(lines);
  if (!arguments.json || code != ExitCode::done) print_error(faults);
  return code;
}

}  // namespace

void add_ls(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<LsArguments>();
  CLI::App* command = add_command(
      app, "ls", "the runs below a folder and how they stand", "Records", "softalign ls");
  command->add_option("folder", arguments->folder, "where to look")->capture_default_str();
  command->add_option("--state", arguments->states, "only runs in these states: lost,interrupted")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "--sort",
      arguments->sort,
      "by name, run, state, updates, age, dev/METRIC or test/METRIC, the best first "
      "(default: by path)");
  command->add_flag("--json", arguments->json, "print them as JSON");
  command->callback([arguments, &outcome] { outcome.code = ls(*arguments); });
}

}  // namespace softalign::app
