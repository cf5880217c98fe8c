// softalign ls [DIR]: the runs below a folder, one line each. A run that cannot be read has its
// line too.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/run.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/app/command.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

// A run and in what it differs from the others of its name.
struct RunLine {
  Run run;
  Difference difference;
  std::string differs;  // the same as text
};

const std::string kDev = "dev/", kTest = "test/";

// NaN where there is none. Of dev: the last value that the run's status has.
double last_value(const Run& run, const std::string& name) {
  for (const auto& [known, value] : run.status.metrics)
    if (known == name) return value;
  return kUndefined;
}

double dev_value(const Run& run, const std::string& metric) {
  return last_value(run, kDev + metric);
}

double test_value(const Run& run, const std::string& metric) {
  return run.test.find("all", metric);
}

// Every key that sorts these lines, for a message.
std::vector<std::string> keys(const std::vector<RunLine>& lines) {
  std::set<std::string> metrics;
  for (const RunLine& line : lines) {
    for (const auto& [name, value] : line.run.status.metrics)
      if (name.starts_with(kDev)) metrics.insert(name);
    for (const std::string& name : line.run.test.metrics) metrics.insert(kTest + name);
  }
  std::vector<std::string> all = {"name", "run", "state", "updates", "age"};
  all.insert(all.end(), metrics.begin(), metrics.end());
  return all;
}

template <class Key>
void sort_by(std::vector<RunLine>& lines, const Key& key) {
  std::stable_sort(lines.begin(), lines.end(), [&](const RunLine& a, const RunLine& b) {
    return key(a.run) < key(b.run);
  });
}

// The smallest first.
void sort_by_number(std::vector<RunLine>& lines, const std::function<double(const Run&)>& number) {
  sort_by(lines, [&](const Run& run) {
    const double value = number(run);
    return std::pair(std::isnan(value), std::isnan(value) ? 0 : value);
  });
}

// Whether the key was that of a metric.
bool sort_by_metric(std::vector<RunLine>& lines, const std::string& key) {
  const bool dev = key.starts_with(kDev);
  if (!dev && !key.starts_with(kTest)) return false;
  const std::string metric = key.substr((dev ? kDev : kTest).size());
  const double sign = higher_is_better(metric).value_or(false) ? -1 : 1;
  sort_by_number(lines, [&](const Run& run) {
    return sign * (dev ? dev_value(run, metric) : test_value(run, metric));
  });
  return true;
}

// Of every run below a folder, by path.
std::vector<RunLine> lines_below(const std::string& folder) {
  std::vector<RunLine> lines;
  for (Run& run : index_runs(folder).runs) lines.push_back({std::move(run), {}, {}});
  std::map<std::string, std::vector<RunLine*>> by_name;
  for (RunLine& line : lines) by_name[line.run.name].push_back(&line);
  for (const auto& [name, same] : by_name) {
    std::vector<std::string> identities;
    for (const RunLine* line : same) identities.push_back(line->run.identity);
    std::vector<Difference> found = differences(identities);
    const auto names = short_names(found);
    for (std::size_t i = 0; i < same.size(); ++i) {
      same[i]->differs = difference_text(found[i], names);
      same[i]->difference = std::move(found[i]);
    }
  }
  return lines;
}

// Only lines of these states; all when none is given. Throws SpecError for one that is none.
void keep_states(std::vector<RunLine>& lines, const std::vector<std::string>& states) {
  if (states.empty()) return;
  std::vector<std::string> legal;
  for (const RunState state : run_states()) legal.emplace_back(to_string(state));
  for (const std::string& state : states)
    if (std::find(legal.begin(), legal.end(), state) == legal.end())
      throw SpecError(
          "--state: '{}' is no state of a run{}", printable(state), suggestion(state, legal));
  std::erase_if(lines, [&](const RunLine& line) {
    return std::find(states.begin(), states.end(), line.run.state()) == states.end();
  });
}

// By "name", "run", "state", "updates", "age", "dev/METRIC" or "test/METRIC": the most updates, the
// youngest and the best first, lines without a value last, equals by path; "" leaves them by path.
// Throws SpecError for another key, or a metric that no line has.
void sort_lines(std::vector<RunLine>& lines, const std::string& key) {
  if (key.empty() || lines.empty()) return;
  if (const std::vector<std::string> legal = keys(lines);
      std::find(legal.begin(), legal.end(), key) == legal.end())
    throw SpecError("--sort: nothing here has a '{}'{}", printable(key), suggestion(key, legal));
  if (sort_by_metric(lines, key)) return;
  if (key == "name") sort_by(lines, [](const Run& run) { return run.name; });
  if (key == "run") sort_by(lines, [](const Run& run) { return run.run_id; });
  if (key == "state") sort_by(lines, [](const Run& run) { return run.state(); });
  if (key == "updates") sort_by(lines, [](const Run& run) { return -run.status.last_update; });
  if (key == "age") sort_by(lines, [](const Run& run) { return -run.status.heartbeat; });
}

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

Json json_of(const RunLine& line) {
  Json json = run_json(line.run);
  json["differs"] = Json::object();
  for (const auto& [path, value] : line.difference) json["differs"][path] = value;
  return json;
}

void print_lines_as_json(const std::vector<RunLine>& lines) {
  Json json = Json::array();
  for (const RunLine& line : lines) json.push_back(json_of(line));
  print_json(json);
}

void print_table(const std::vector<RunLine>& lines) {
  const bool differ = std::any_of(
      lines.begin(), lines.end(), [](const RunLine& line) { return !line.difference.empty(); });
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
  for (const RunLine& line : lines) {
    const Run& run = line.run;
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
  std::vector<RunLine> lines = lines_below(arguments.folder);
  const bool any = !lines.empty();
  ExitCode code = ExitCode::done;
  for (const RunLine& line : lines)
    if (!line.run.fault.empty() && line.run.fault_state == RunState::unreadable)
      code = ExitCode::failed;
  sort_lines(lines, arguments.sort);
  keep_states(lines, arguments.states);
  std::string faults;
  for (const RunLine& line : lines)
    if (!line.run.fault.empty()) faults += line.run.fault + "\n";
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
