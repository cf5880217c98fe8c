#include "framework/app/sweeps/sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

const ActiveRow* find_active(const std::vector<ActiveRow>& active, const ListedRun& row) {
  const auto found =
      std::find_if(active.begin(), active.end(), [&](const ActiveRow& a) { return a.row == &row; });
  return found == active.end() ? nullptr : &*found;
}

std::string updates_text(Index update, Index updates, bool over) {
  if (update == 0 && updates == 0) return "";
  if (updates == 0 || over) return fmt::format("{}", update);
  constexpr int kCells = 8;
  const auto full = static_cast<int>(kCells * update / std::max<Index>(1, updates));
  std::string bar;
  for (int i = 0; i < kCells; ++i) bar += i < full ? "━" : "┄";
  return fmt::format("{} {}/{}", bar, update, updates);
}

// Returns the range of rows to show: all, or if they do not fit, a window around the first active row.
std::pair<std::size_t, std::size_t> window(const std::vector<RowStatus>& rows, std::size_t lines) {
  if (lines == 0 || rows.size() <= lines) return {0, rows.size()};
  const auto first = std::find_if(
      rows.begin(), rows.end(), [](const RowStatus& row) { return is_worked_on(row.state); });
  const auto at = usize(first - rows.begin());
  const std::size_t begin = std::min(at > lines / 3 ? at - lines / 3 : 0, rows.size() - lines);
  return {begin, begin + lines};
}

}  // namespace

std::string value_text(const RunList& list, double value) {
  const std::string& metric = list.metric.name;
  return metric_text(value, metric, in_percent(metric) ? 2 : 4);
}

std::string counts_text(const std::vector<RowStatus>& rows) {
  std::string text;
  for (const RunState state : {RunState::complete,
                               RunState::pruned,
                               RunState::running,
                               RunState::claimed,
                               RunState::interrupted,
                               RunState::trained,
                               RunState::lost,
                               RunState::failed,
                               RunState::corrupt,
                               RunState::unreadable,
                               RunState::planned}) {
    const auto count = std::count_if(
        rows.begin(), rows.end(), [&](const RowStatus& row) { return row.state == state; });
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, softalign::to_string(state));
  }
  return text.empty() ? "no rows yet" : text;
}

std::string sweep_table(const RunList& list,
                        const std::vector<RowStatus>& rows,
                        const std::vector<Index>& best,
                        const std::vector<ActiveRow>& active,
                        std::size_t columns,
                        std::size_t lines) {
  std::vector<Table::Column> head = {{"row", Side::right}};
  std::vector<std::string> paths;
  for (const SweepParameter& parameter : list.parameters)
    if (list.varied.contains(parameter.path)) paths.push_back(parameter.path);
  for (const std::string& path : paths) head.push_back({list.varied.at(path), Side::left, 10});
  const bool is_study = list.parameters.empty();
  if (is_study) head.push_back({"run"});
  head.push_back({"seed", Side::right, 0, 2});
  head.push_back({"state"});
  head.push_back({"updates", Side::left, 0, 1});
  head.push_back({list.metric.name, Side::right});
  const bool timed = !active.empty();
  if (timed) head.push_back({"left", Side::right, 0, 3});
  Table table(head);
  const auto [begin, end] = window(rows, lines);
  for (std::size_t i = begin; i < end; ++i) {
    const ListedRun& row = list.rows[i];
    const ActiveRow* const now = find_active(active, row);
    std::vector<std::string> cells = {fmt::format("{}", row.k)};
    for (const std::string& path : paths) {
      const auto set = std::find_if(
          row.set.begin(), row.set.end(), [&](const Override& s) { return s.path == path; });
      cells.push_back(set == row.set.end()     ? "-"
                      : set->value.is_scalar() ? printable(set->value.text)
                                               : printable(set->value.flow()));
    }
    if (is_study) cells.push_back(row.part + "/" + row.variant);
    cells.push_back(fmt::format("{}", row.seed));
    const bool begun_here = now && rows[i].state == RunState::planned;
    cells.emplace_back(begun_here ? "starting" : softalign::to_string(rows[i].state));
    const Index update = now ? now->progress.update() : rows[i].last_update;
    const Index updates = now ? now->progress.updates() : rows[i].updates;
    cells.push_back(updates_text(update, updates, is_over(rows[i].state)));
    double value = now ? now->progress.value() : kUndefined;
    if (std::isnan(value)) value = rows[i].metric;
    cells.push_back((std::isnan(value) ? "" : value_text(list, value)) +
                    (std::ranges::count(best, static_cast<Index>(i)) > 0 ? "*" : " "));
    if (timed)
      cells.push_back(now && std::isfinite(now->progress.seconds_left())
                          ? clock_time(now->progress.seconds_left())
                          : "");
    table.row(std::move(cells));
  }
  std::string text = table.str(columns);
  if (end - begin < rows.size())
    text += fmt::format("rows {}-{} of {}\n", begin, end - 1, rows.size());
  return text;
}

SweepDisplay::SweepDisplay(const RunList& list,
                           const LocalRunOptions& options,
                           LoadSpec load,
                           std::function<void()> row_done)
    : list_(list),
      row_done_(std::move(row_done)),
      workers_(options.workers),
      begins_(list.rows.size(), options.rows.empty()),
      terminal_(isatty(STDERR_FILENO) != 0),
      hint_(terminal_ ? page_hint(short_path(list.folder)) : ""),
      started_(Clock::now()),
      drawn_(started_),
      costs_(list, std::move(load)) {
  for (const Index k : options.rows) begins_[usize(k)] = true;
  catch_interrupts();
}

bool SweepDisplay::stop_requested() { return interrupted(); }

std::string SweepDisplay::cleared() {
  // The signal handler has written a line of its own below the table.
  if (lines_ > 0 && interrupted() && !stopping_) ++lines_;
  stopping_ = interrupted();
  const std::string text = lines_ > 0 ? fmt::format("\r\033[{}A\033[J", lines_) : "";
  lines_ = 0;
  return text;
}

void SweepDisplay::clear() {
  if (const std::string text = cleared(); !text.empty()) write_error(text);
}

void SweepDisplay::message(std::string_view text) {
  clear();
  write_error(fmt::format("{}\n", shortened(printable(text, kWhole))));
}

void SweepDisplay::row_began(const ListedRun& row, bool resumed) {
  if (terminal_) return;
  message(fmt::format(
      "row {}: {}: {}", row.k, setting_text(list_, row), resumed ? "resumes" : "begins"));
}

void SweepDisplay::row_ended(const ListedRun& row, const RowStatus& status, double seconds) {
  if (is_over(status.state)) ended_.emplace_back(&row, seconds);
  row_done_();
  if (terminal_ && status.fault.empty()) return;
  const double value = status.metric;
  message(fmt::format("row {}: {}: {}{}, {}{}",
                      row.k,
                      setting_text(list_, row),
                      softalign::to_string(status.state),
                      std::isfinite(value)
                          ? fmt::format(", {} {}", list_.metric.name, value_text(list_, value))
                          : "",
                      rough_time(seconds),
                      status.fault.empty() ? "" : ": " + status.fault));
}

// Returns the time left for all rows: active rows at their own pace, later rows from their costs at the pace of others.
std::string SweepDisplay::total_text(const std::vector<ActiveRow>& active,
                                     const std::vector<RowStatus>& rows) const {
  const double used = used_updates(rows);
  double left = 0, slowest = 0;
  RowPace pace;
  for (const auto& [row, seconds] : ended_) pace.add(row->part, costs_.of(*row), seconds);
  std::vector<bool> known(rows.size());
  for (const ActiveRow& row : active) {
    const double own = row.progress.seconds_left(used);
    if (!std::isfinite(own)) continue;
    left += own;
    slowest = std::max(slowest, own);
    pace.add(
        row.row->part,
        costs_.of(*row.row),
        used * row.progress.seconds_per_update() * static_cast<double>(row.progress.updates()));
    known[usize(row.row - list_.rows.data())] = true;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (known[i] || !begins_[i] || !LocalRunOptions().begin.contains(rows[i].state)) continue;
    const double updates = std::max(1.0, used * static_cast<double>(rows[i].updates));
    const double rest = std::max(0.0, 1 - static_cast<double>(rows[i].last_update) / updates);
    left += rest * pace.seconds(list_.rows[i].part, costs_.of(list_.rows[i]));
  }
  if (std::isnan(left)) return "";
  return fmt::format("  {} left", clock_time(std::max(slowest, left / workers_)));
}

void SweepDisplay::tick(const std::vector<ActiveRow>& active, const std::vector<RowStatus>& rows) {
  const auto now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(terminal_ ? 200 : 30000)) return;
  drawn_ = now;
  if (!hint_.empty() && drawn_ - started_ > kHintAfter) message(std::exchange(hint_, ""));
  costs_.look(std::chrono::milliseconds(100));
  std::vector<RowStatus> seen = rows;
  for (const ActiveRow& row : active)
    if (row.progress.update() > 0)
      seen[usize(row.row - list_.rows.data())].state = RunState::running;
  const auto over = std::count_if(
      rows.begin(), rows.end(), [](const RowStatus& row) { return is_over(row.state); });
  const std::string head = fmt::format("{}  {}/{}", list_.name, over, rows.size());
  const std::string tail = interrupted() ? "stopping: runs finish their step and save"
                                         : counts_text(seen) + total_text(active, rows);
  if (!terminal_) return write_error(fmt::format("{}: {}\n", head, tail));
  const std::size_t columns = std::max<std::size_t>(terminal_columns(STDERR_FILENO), 20) - 1;
  const std::size_t lines = terminal_lines(STDERR_FILENO);
  std::string text =
      progress_line(
          head,
          static_cast<double>(over) / static_cast<double>(std::max<std::size_t>(1, rows.size())),
          tail,
          columns) +
      "\n" + sweep_table(list_, seen, {}, active, columns, lines > 8 ? lines - 5 : 3);
  const std::string before = cleared();  // in one write with the new table, to avoid flicker
  lines_ = usize(std::count(text.begin(), text.end(), '\n'));
  write_error(before + "\033[?7l" + text + "\033[?7h");
}

}  // namespace softalign::app
