// softalign ls [DIR]: lists the runs below a folder, one line each, including runs that cannot be read.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/run.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/analysis/run_values.hpp"
#include "framework/app/command.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

// A run and its differences from the other runs of its name.
struct RunLine {
  Run run;
  Difference difference;
  std::string differs;  // the difference as text
};

// Returns a line for every run below a folder, sorted by path.
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

struct LsArguments {
  std::string folder = "results";
  std::vector<std::string> states;
  std::string where;
  std::vector<std::string> tags;
  std::vector<std::string> columns;
  std::string sort;
  bool json = false;
};

RunTable table_of(const std::vector<RunLine>& lines) {
  std::vector<const Run*> runs;
  for (const RunLine& line : lines) runs.push_back(&line.run);
  return {runs, unix_time()};
}

void take(std::vector<RunLine>& lines, const std::vector<std::size_t>& wanted) {
  std::vector<RunLine> taken;
  for (const std::size_t i : wanted) taken.push_back(std::move(lines[i]));
  lines = std::move(taken);
}

// Applies --sort, --state, --where and --tag. Throws SpecError for an unknown state or column.
void choose(std::vector<RunLine>& lines, const LsArguments& arguments) {
  std::vector<std::string> legal;
  for (const RunState state : run_states()) legal.emplace_back(to_string(state));
  for (const std::string& state : arguments.states)
    if (std::ranges::find(legal, state) == legal.end())
      throw SpecError("--state: unknown state '{}'{}", printable(state), suggestion(state, legal));
  if (!arguments.sort.empty() && !lines.empty()) {
    const RunTable table = table_of(lines);
    take(lines, table.sorted(table.column(arguments.sort, "--sort")));
  }
  if (!arguments.states.empty())
    std::erase_if(lines, [&](const RunLine& line) {
      return std::ranges::count(arguments.states, line.run.state()) == 0;
    });
  std::vector<Condition> conditions;
  if (!arguments.where.empty()) conditions = read_conditions(arguments.where, "--where");
  for (const std::string& tag : arguments.tags) conditions.push_back({"tags", "=", tag});
  if (!conditions.empty()) take(lines, table_of(lines).meeting(conditions, "--where"));
}

std::string cell_shown(const std::string& column, const Cell& cell) {
  constexpr std::size_t kLongestNote = 40, kCommit = 12;
  const std::string text = cell_text(cell);
  if (text.empty()) return "-";
  const double number = std::holds_alternative<double>(cell) ? std::get<double>(cell) : kUndefined;
  if (column == "age") return rough_time(number);
  if (column == "seconds") return clock_time(number);
  if (column.starts_with("system/")) return fmt::format("{:.0f}", number);
  if (column.find('/') != column.npos) return metric_text(number, column);
  if (column == "notes") return printable(text, kLongestNote);
  if (column == "started")
    return text.substr(0, text.find('T')) + " " + text.substr(text.find('T') + 1, 5);
  if (column == "commit") return text.substr(0, kCommit);
  if (column != "tags") return text;
  std::string tags;
  for (const auto& tag : cell_json(cell)) tags += (tags.empty() ? "" : ", ") + text_of(tag);
  return tags.empty() ? "-" : tags;
}

// Green: complete; cyan: running; yellow: can be resumed; red: needs attention.
std::string colour_of_state(std::string_view cell) {
  const auto state = run_state(cell);
  if (!state) return "";
  switch (*state) {
    case RunState::complete:
      return "32";
    case RunState::claimed:
    case RunState::running:
      return "36";
    case RunState::failed:
    case RunState::lost:
    case RunState::corrupt:
    case RunState::unreadable:
      return "31";
    default:
      return "33";
  }
}

struct ShownColumn {
  std::string column;
  Table::Column form;
};

// Returns the default columns, without tags and notes if no line has a value for them.
std::vector<ShownColumn> usual_columns(const std::vector<RunLine>& lines, const RunTable& table) {
  std::vector<ShownColumn> columns = {{"name", {"name", Side::left, 12}},
                                      {"run_id", {"run"}},
                                      {"state", {"state"}},
                                      {"updates", {"updates", Side::right}},
                                      {"dev/loss", {"dev loss", Side::right, 0, 3}},
                                      {"dev/bleu", {"dev bleu", Side::right, 0, 4}},
                                      {"test/token_accuracy", {"test accuracy", Side::right, 0, 1}},
                                      {"test/bleu", {"test bleu", Side::right, 0, 2}},
                                      {"system/tokens_per_s", {"tokens/s", Side::right, 0, 8}},
                                      {"system/memory_mb", {"MB", Side::right, 0, 9}},
                                      {"age", {"age", Side::right, 0, 5}},
                                      {"started", {"started", Side::left, 0, 11}},
                                      {"seconds", {"duration", Side::right, 0, 10}},
                                      {"host", {"host", Side::left, 0, 12}},
                                      {"commit", {"commit", Side::left, 0, 13}},
                                      {"tags", {"tags", Side::left, 8, 6}},
                                      {"notes", {"notes", Side::left, 12, 7}}};
  std::erase_if(columns, [&](const ShownColumn& one) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (cell_shown(one.column, table.at(i, one.column)) != "-") return false;
    return one.column == "tags" || one.column == "notes";
  });
  return columns;
}

std::vector<ShownColumn> listed_columns(const LsArguments& arguments,
                                        const std::vector<RunLine>& lines,
                                        const RunTable& table) {
  if (arguments.columns.empty()) return usual_columns(lines, table);
  std::vector<ShownColumn> columns;
  for (const std::string& name : arguments.columns) {
    const std::string column = table.column(name, "--columns");
    const bool number = std::ranges::any_of(lines, [&](const RunLine& line) {
      const Cell& cell = table.at(usize(&line - lines.data()), column);
      return std::holds_alternative<Index>(cell) || std::holds_alternative<double>(cell);
    });
    columns.push_back({column, {name, number ? Side::right : Side::left}});
  }
  return columns;
}

Json json_of(const RunLine& line) {
  Json json = run_json(line.run);
  json["differs"] = Json::object();
  for (const auto& [path, value] : line.difference) json["differs"][path] = value;
  return json;
}

void print_lines_as_json(const LsArguments& arguments,
                         const std::vector<RunLine>& lines,
                         const RunTable& table) {
  Json json = Json::array();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Json line = arguments.columns.empty() ? json_of(lines[i]) : Json::object();
    for (const std::string& name : arguments.columns)
      line[name] = cell_json(table.at(i, table.column(name, "--columns")));
    json.push_back(std::move(line));
  }
  print_json(json);
}

void print_lines(const LsArguments& arguments,
                 const std::vector<RunLine>& lines,
                 const RunTable& table) {
  const std::vector<ShownColumn> shown_columns = listed_columns(arguments, lines, table);
  const bool differ =
      arguments.columns.empty() &&
      std::ranges::any_of(lines, [](const RunLine& line) { return !line.difference.empty(); });
  std::vector<Table::Column> forms;
  for (const ShownColumn& one : shown_columns) forms.push_back(one.form);
  if (differ) forms.push_back({"differs in", Side::left, 16});
  Table text(forms);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> cells;
    for (const ShownColumn& one : shown_columns)
      cells.push_back(cell_shown(one.column, table.at(i, one.column)));
    if (differ) cells.push_back(lines[i].differs);
    text.row(std::move(cells));
  }
  write_table(text.fitted(), colour_of_state);
}

// Returns ExitCode::failed if a run, or a folder that may contain runs, cannot be read.
ExitCode ls(const LsArguments& arguments) {
  std::vector<RunLine> lines = lines_below(arguments.folder);
  const bool any = !lines.empty();
  ExitCode code = ExitCode::done;
  for (const RunLine& line : lines)
    if (!line.run.fault.empty() && line.run.fault_state == RunState::unreadable)
      code = ExitCode::failed;
  choose(lines, arguments);
  std::string faults;
  for (const RunLine& line : lines)
    if (!line.run.fault.empty()) faults += line.run.fault + "\n";
  const RunTable table = table_of(lines);
  if (arguments.json)
    print_lines_as_json(arguments, lines, table);
  else if (lines.empty())
    print_text(
        "no runs below {}{}\n", printable(arguments.folder, kWhole), any ? " of this kind" : "");
  else
    print_lines(arguments, lines, table);
  if (!arguments.json || code != ExitCode::done) print_error(faults);
  return code;
}

constexpr const char* kLsExample =
    R"(softalign ls --where 'units>64 and score=dot' --columns name,units,bleu --sort bleu

NAME is a column (run, name, state, updates, age, started, seconds, host, commit,
tags, notes), a metric (bleu of the test set, dev/loss) or the end of an option's path
(units, encoder.units). Conditions are NAME OP VALUE, joined by 'and'; OP is one of
= != < <= > >=, and a VALUE with spaces is quoted. seconds is the time of training and
dev evaluation.)";

}  // namespace

void add_ls(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<LsArguments>();
  CLI::App* command = add_command(app, "ls", "list runs and their state", "Records", kLsExample);
  command->add_option("folder", arguments->folder, "folder of the runs")->capture_default_str();
  command->add_option("--state", arguments->states, "only runs in these states: lost,interrupted")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "--where", arguments->where, "only runs that match: 'units>64 and score=dot'");
  command->add_option("--tag", arguments->tags, "only runs with all of these tags")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--columns", arguments->columns, "columns to show: name,units,dev/loss")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--sort",
                      arguments->sort,
                      "sort by NAME: metrics best first, updates and start times in descending "
                      "order, anything else in ascending order (default: by path)");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &outcome] { outcome.code = ls(*arguments); });
}

}  // namespace softalign::app
