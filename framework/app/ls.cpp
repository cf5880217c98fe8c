// softalign ls [DIR]: the runs below a folder, one line each. A run that cannot be read has its
// line too.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "framework/app/command.hpp"
#include "framework/app/differences.hpp"
#include "framework/app/json.hpp"
#include "framework/app/runs.hpp"
#include "framework/app/table.hpp"
#include "framework/record/machine.hpp"
#include "framework/record/status.hpp"

namespace softalign::app {
namespace {

struct Line {
  RunFolder run;
  std::string name;
  std::string id;
  std::string fault;  // why it cannot be read
  RunStatus status;
  MetricTable test;       // empty: none yet
  std::string identity;   // canonical JSON; empty where there is none
  Difference difference;  // from the other runs of the name

  std::string state() const {
    return fault.empty() ? std::string(to_string(status.state)) : "unreadable";
  }
};

Line line_of(const RunFolder& run) {
  Line line;
  line.run = run;
  line.name = run.root.parent_path().filename().string();
  line.id = run.root.filename().string();
  line.status = run_status(run);
  if (std::filesystem::exists(run.identity())) line.identity = read_file(run.identity());
  if (!std::filesystem::exists(run.record())) {
    if (run.journals().empty() && line.status.state == RunState::absent)
      line.fault = "neither a journal nor a record";
    return line;
  }
  try {
    const Record record(run.record());
    line.test = stored_metrics(record);
    line.name = record.name();
    line.id = record.run_id();
    if (line.identity.empty()) line.identity = record.identity_json();
    if (line.status.state == RunState::absent) {  // a record that was copied here alone
      line.status.state = record.complete() ? RunState::complete : RunState::interrupted;
      line.status.last_update = record.last_update();
    }
  } catch (const std::exception& error) {
    line.fault = error.what();
  }
  return line;
}

std::vector<Line> lines_below(const std::string& folder) {
  std::vector<Line> lines;
  for (const RunFolder& run : runs_below(folder)) lines.push_back(line_of(run));
  std::map<std::string, std::vector<Line*>> by_name;
  for (Line& line : lines) by_name[line.name].push_back(&line);
  for (const auto& [name, same] : by_name) {
    std::vector<std::string> identities;
    for (const Line* line : same) identities.push_back(line->identity);
    const auto found = differences(identities);
    for (std::size_t i = 0; i < same.size(); ++i) same[i]->difference = found[i];
  }
  return lines;
}

// What tells a line from the others of its name.
std::string difference_of(const Line& line, const std::vector<Line>& lines) {
  std::vector<Difference> all;
  for (const Line& other : lines)
    if (other.name == line.name) all.push_back(other.difference);
  return difference_text(line.difference, all);
}

// "dev loss", from the numbers that a status keeps.
std::string last_dev(const RunStatus& status, const std::string& metric) {
  for (const auto& [name, value] : status.metrics)
    if (name == "dev/" + metric) return metric_text(value);
  return "-";
}

std::string test_value(const Line& line, const std::string& metric) {
  const auto& names = line.test.metrics;
  const bool there = std::find(names.begin(), names.end(), metric) != names.end();
  return there ? metric_text(line.test.at("all", metric)) : "-";
}

std::string age(const RunStatus& status) {
  return status.heartbeat > 0 ? rough_time(std::max(0.0, unix_time() - status.heartbeat)) : "-";
}

Json json_of(const Line& line) {
  Json json = {{"name", line.name},
               {"run_id", line.id},
               {"folder", line.run.root.string()},
               {"state", line.state()},
               {"updates", line.status.last_update},
               {"heartbeat", line.status.heartbeat}};
  if (!line.fault.empty()) json["fault"] = line.fault;
  json["differs"] = Json::object();
  for (const auto& [path, value] : line.difference) json["differs"][path] = value;
  Json last = Json::object();
  for (const auto& [name, value] : line.status.metrics) last[name] = value;
  json["last"] = std::move(last);
  if (!line.test.rows.empty()) json["test"] = metrics_json(line.test).at("all");
  return json;
}

void ls(const std::string& folder, bool as_json) {
  Json json = Json::array();
  const std::vector<Line> lines = lines_below(folder);
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
                                        {"age", Side::right, 0, 5}};
  if (differ) columns.push_back({"differs in", Side::left, 16});
  Table table(columns);
  std::string faults;
  for (const Line& line : lines) {
    json.push_back(json_of(line));
    if (!line.fault.empty()) faults += line.fault + "\n";
    std::vector<std::string> cells = {line.name,
                                      line.id,
                                      line.state(),
                                      fmt::format("{}", line.status.last_update),
                                      last_dev(line.status, "loss"),
                                      last_dev(line.status, "bleu"),
                                      test_value(line, "token_accuracy"),
                                      test_value(line, "bleu"),
                                      age(line.status)};
    if (differ) cells.push_back(difference_of(line, lines));
    table.row(std::move(cells));
  }
  if (as_json) {
    print_json(json);
    return;
  }
  if (table.empty())
    fmt::print("no runs below {}\n", folder);
  else
    fmt::print("{}", table.fitted());
  print_error(faults);
}

}  // namespace

void add_ls(CLI::App& app, Outcome&) {
  struct Arguments {
    std::string folder = "results";
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "ls", "the runs below a folder and how they stand", "Records", "softalign ls");
  command->add_option("folder", arguments->folder, "where to look")->capture_default_str();
  command->add_flag("--json", arguments->json, "print them as JSON");
  command->callback([arguments] { ls(arguments->folder, arguments->json); });
}

}  // namespace softalign::app
