#include "framework/app/sweeps/sweep.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

// Returns a table of the sweep's parameters with their kinds and values.
std::string parameters_text(const RunList& list) {
  Table table({{"parameter"}, {"kind"}, {"values", Side::left, 20}});
  for (const SweepParameter& p : list.parameters) {
    std::string values;
    for (const Value& value : p.values)
      values += (values.empty() ? "" : ", ") + (value.is_scalar() ? value.text : value.flow());
    if (!p.is_finite())
      values = (p.kind == SweepParameter::Kind::normal
                    ? fmt::format("mean {}, deviation {}", p.low, p.high)
                    : fmt::format("from {} to {}", p.low, p.high)) +
               (p.step > 0 ? fmt::format(", multiples of {}", p.step) : "");
    table.row({p.path, p.kind_text, printable(values, 200)});
  }
  return table.fitted();
}

std::string plan_summary(const RunList& list) {
  std::string seeds;
  for (const Index seed : list.seeds) seeds += fmt::format(" {}", seed);
  return fmt::format("{}: {}, seed{}{}, metric {} ({}), early_terminate {}\n",
                     list.name,
                     list.method == SweepMethod::optuna && list.rows.empty()
                         ? "runs as optuna proposes them"
                         : counted(list.rows.size(), "run"),
                     list.seeds.size() == 1 ? "" : "s",
                     seeds,
                     list.metric.name,
                     list.metric.goal,
                     list.early_terminate.type);
}

// Returns "best dev/loss: 1.8203 ±0.03 over 3 seeds: units=64 score=dot (rows 6, 7, 8)".
std::string best_text(const RunList& list, const RankedConfiguration& best) {
  const ListedRun& first = list.rows[usize(best.complete.front())];
  const std::string& metric = list.metric.name;
  const bool one = best.complete.size() == 1;
  return fmt::format("best {}: {}{}: {}({} {})\n",
                     metric,
                     value_text(list, best.metric.mean),
                     one ? ""
                         : fmt::format(" ±{} over {} seeds",
                                       value_text(list, best.metric.deviation),
                                       best.complete.size()),
                     configuration_text(list, first),
                     one ? "row" : "rows",
                     fmt::join(best.complete, ", "));
}

}  // namespace

std::string plan_text(const RunList& list) { return plan_summary(list) + parameters_text(list); }

std::string rows_text(const RunList& list, const std::vector<std::size_t>& rows) {
  std::vector<RowStatus> stands;
  for (const ListedRun& row : list.rows) stands.push_back(row_status(list, row));
  const std::vector<std::string> states = state_texts(list, stands);
  Table table({{"row"}, {"run"}, {"seed"}, {"id"}, {"state"}});
  for (const std::size_t i : rows) {
    const ListedRun& row = list.rows[i];
    table.row({fmt::format("{}", row.k),
               row.part.empty() ? configuration_text(list, row) : row.part + "-" + row.variant,
               fmt::format("{}", row.seed),
               row.run_id,
               states[i]});
  }
  return table.str();
}

std::string table_text(const StudyTable& table) {
  std::vector<std::size_t> shown;  // columns that have sentences
  std::vector<Table::Column> head = {{""}};
  for (std::size_t c = 0; c < table.buckets.size(); ++c)
    if (std::ranges::any_of(table.rows,
                            [&](const auto& row) { return row.cells[c].sentences > 0; })) {
      shown.push_back(c);
      head.push_back({table.buckets[c] + " ", Side::right});
    }
  Table text(head);
  std::vector<std::string> before;  // the previous row of sentence counts
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const LengthTable::Row& row = table.rows[r];
    std::vector<std::string> counts = {"n"}, values = {row.name};
    for (const std::size_t c : shown) {
      const bool best = c < table.best.size() && table.best[c] == static_cast<int>(r);
      counts.push_back(fmt::format("{} ", row.cells[c].sentences));
      values.push_back(number_text(row.cells[c].over_seeds) + (best ? "*" : " "));
    }
    if (before != counts) text.row(std::vector(counts));
    before = std::move(counts);
    text.row(std::move(values));
  }
  return fmt::format("{}: {}{} by source length\n{}",
                     table.title,
                     table.metric,
                     table.facts.units == "1" ? "" : " (" + table.facts.units + ")",
                     text.str());
}

ListStatus print_sweep(const RunList& list, bool all) {
  const ListStatus status = list_status(list);
  if (fs::exists(list.folder))
    if (const std::string why = write_sweep_table(list, status); !why.empty())
      write_error(fmt::format("note: {}\n", printable(why, kWhole)));
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (all)
    print_text("{}",
               sweep_table(list,
                           status.rows,
                           status.best() ? status.best()->complete : std::vector<Index>{},
                           {},
                           terminal ? terminal_columns(STDOUT_FILENO) : 0,
                           0));
  print_text("{}: {}\n", list.name, counts_text(status.rows));
  if (status.best()) print_text("{}", best_text(list, *status.best()));
  for (std::size_t i = 0; i < status.rows.size(); ++i)
    if (!status.rows[i].fault.empty()) print_error(row_fault(list, list.rows[i], status.rows[i]));
  return status;
}

std::string row_fault(const RunList& list, const ListedRun& row, const RowStatus& status) {
  return fmt::format("row {} ({}): {}: {}",
                     row.k,
                     setting_text(list, row),
                     softalign::to_string(status.state),
                     printable(status.fault, kWhole));
}

bool say_failed(const RunList& list, const std::vector<RowStatus>& rows) {
  const auto any = [&](RunState state) {
    return std::ranges::count(rows, state, &RowStatus::state) > 0;
  };
  if (const auto row = std::ranges::find(rows, RunState::unreadable, &RowStatus::state);
      row != rows.end())
    print_error(
        fmt::format("some rows cannot be read, so nothing was done with them: {}", row->fault));
  if (!any(RunState::failed) && !any(RunState::trained) && !any(RunState::corrupt))
    return any(RunState::unreadable);
  std::vector<std::string> plugins;
  for (const std::string& file : named_plugins()) plugins.insert(plugins.end(), {"--plugin", file});
  print_error(fmt::format("some rows failed; their output is in {}; {}",
                          list.place().logs().string(),
                          sweep_command("retry", plugins, list.folder)));
  return true;
}

void print_study(const Sweep& sweep, const SweepOutcome& outcome, bool tiny) {
  if (!sweep.question.empty()) print_text("{}\n", sweep.question);
  for (const StudyTable& table : outcome.tables) print_text("\n{}", table_text(table));
  if (std::ranges::any_of(outcome.tables, [](const StudyTable& table) {
        return std::ranges::any_of(table.best, [](int row) { return row >= 0; });
      }))
    print_text("* best of its column\n");
  if (!outcome.claims.empty()) print_text("\nClaims\n{}", claims_text(outcome.claims));
  if (tiny)
    print_text(
        "\n--tiny: the models are hardly trained; tables and verdicts only show that the study "
        "runs\n");
}

}  // namespace softalign::app
