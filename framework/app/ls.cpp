// softalign ls [DIR]: the runs below a folder, one line each. A run that cannot be read has its
// line too.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "framework/app/command.hpp"
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
  MetricTable test;  // empty: none yet

  std::string state() const {
    return fault.empty() ? std::string(to_string(status.state)) : "unreadable";
  }
};

Line line_of(const RunFolder& run) {
  Line line{
      run, run.root.parent_path().filename().string(), run.root.filename().string(), {}, {}, {}};
  line.status = run_status(run);
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
    if (line.status.state == RunState::absent) {  // a record that was copied here alone
      line.status.state = record.complete() ? RunState::complete : RunState::interrupted;
      line.status.last_update = record.last_update();
    }
  } catch (const std::exception& error) {
    line.fault = error.what();
  }
  return line;
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
  Json last = Json::object();
  for (const auto& [name, value] : line.status.metrics) last[name] = value;
  json["last"] = std::move(last);
  if (!line.test.rows.empty()) json["test"] = metrics_json(line.test).at("all");
  return json;
}

void ls(const std::string& folder, bool as_json) {
  Json json = Json::array();
  Table table({{"name"},
               {"run"},
               {"state"},
               {"updates", Side::right},
               {"dev loss", Side::right},
               {"dev bleu", Side::right},
               {"test accuracy", Side::right},
               {"test bleu", Side::right},
               {"age", Side::right}});
  std::string faults;
  for (const RunFolder& run : runs_below(folder)) {
    const Line line = line_of(run);
    json.push_back(json_of(line));
    if (!line.fault.empty()) faults += line.fault + "\n";
    table.row({line.name,
               line.id,
               line.state(),
               fmt::format("{}", line.status.last_update),
               last_dev(line.status, "loss"),
               last_dev(line.status, "bleu"),
               test_value(line, "token_accuracy"),
               test_value(line, "bleu"),
               age(line.status)});
  }
  if (as_json) {
    print_json(json);
    return;
  }
  if (table.empty())
    fmt::print("no runs below {}\n", folder);
  else
    fmt::print("{}", table.str());
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
