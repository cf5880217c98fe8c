#include "framework/app/terminal/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/eval/metric.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign::app {
namespace {

// Places of a table's metrics, in the order in which people look at them.
std::vector<std::size_t> in_order(const MetricTable& table) {
  std::vector<std::size_t> places(table.metrics.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](std::size_t m) {
    return std::tuple(table.facts[m].searched, table.facts[m].order);
  });
  return places;
}

// "teacher-forced: perplexity to loss; by the search: bleu", of columns in order; on two lines
// where there is no room for one.
std::string ways_of_measuring(const MetricTable& table,
                              const std::vector<std::size_t>& columns,
                              std::size_t most) {
  const auto part = [&](const char* way, bool searched) {
    std::string first, last;
    for (const std::size_t m : columns)
      if (table.facts[m].searched == searched) (first.empty() ? first : last) = table.metrics[m];
    if (first.empty()) return first;
    return fmt::format("{}: {}{}", way, first, last.empty() ? "" : " to " + last);
  };
  const std::string forced = part("teacher-forced", false), searched = part("by the search", true);
  if (forced.empty() && searched.empty()) return "nothing is measured: no references\n";
  if (forced.empty() || searched.empty()) return forced + searched + "\n";
  const bool fits = most == 0 || forced.size() + 2 + searched.size() <= most;
  return forced + (fits ? "; " : "\n") + searched + "\n";
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw BugError("a row of {} cells for {} columns", cells.size(), columns_.size());
  for (std::string& cell : cells) cell = printable(cell, kWhole);
  rows_.push_back(std::move(cells));
}

std::string Table::band(const std::vector<std::size_t>& columns,
                        const std::vector<std::size_t>& widths) const {
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (const std::size_t c : columns)
      text += (c == columns.front() ? "" : "  ") +
              aligned(cut(cell(c), widths[c]), widths[c], columns_[c].side);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line([&](std::size_t c) { return columns_[c].name; });
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells(columns_.size());
    std::size_t height = 1;
    for (const std::size_t c : columns) {
      const bool whole = !columns_[c].wraps || columns_of(row[c]) <= widths[c];
      cells[c] = whole ? std::vector{row[c]} : wrapped(row[c], widths[c]);
      height = std::max(height, cells[c].size());
    }
    for (std::size_t l = 0; l < height; ++l)
      line([&](std::size_t c) { return l < cells[c].size() ? cells[c][l] : std::string(); });
  }
  return out;
}

std::string Table::str(std::size_t most) const {
  std::vector<std::size_t> shown, widths, least;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    shown.push_back(c);
    widths.push_back(columns_of(columns_[c].name));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(row[c]));
    least.push_back(columns_[c].least > 0 ? std::min(columns_[c].least, widths[c]) : widths[c]);
  }
  if (most == 0) return band(shown, widths);

  const auto total = [&](const std::vector<std::size_t>& of) {
    std::size_t sum = 2 * (shown.size() - 1);
    for (const std::size_t c : shown) sum += of[c];
    return sum;
  };
  std::string left_out;
  while (total(least) > most) {
    const auto spare = [&](std::size_t a, std::size_t b) {
      return columns_[a].spare < columns_[b].spare;
    };
    const auto go = std::max_element(shown.begin(), shown.end(), spare);
    if (columns_[*go].spare == 0) break;
    left_out += (left_out.empty() ? "" : ", ") + columns_[*go].name;
    shown.erase(go);
  }
  const auto room = [&](std::size_t c) { return columns_[c].wraps ? widths[c] - least[c] : 0; };
  for (std::size_t all = total(widths); all > most; --all) {  // the widest that wraps, by one
    const auto widest = std::ranges::max_element(
        shown, {}, [&](std::size_t c) { return room(c) > 0 ? widths[c] : 0; });
    if (room(*widest) == 0) break;
    --widths[*widest];
  }
  for (auto c = shown.rbegin(); c != shown.rend(); ++c)
    if (const std::size_t all = total(widths); all > most)
      widths[*c] = std::max(least[*c], widths[*c] - std::min(widths[*c], all - most));

  std::string out;
  std::vector<std::size_t> columns = {shown.front()};
  std::size_t used = widths[shown.front()];
  for (std::size_t i = 1; i < shown.size(); ++i) {
    if (columns.size() > 1 && used + 2 + widths[shown[i]] > most) {
      out += band(columns, widths) + "\n";
      columns = {shown.front()};
      used = widths[shown.front()];
    }
    columns.push_back(shown[i]);
    used += 2 + widths[shown[i]];
  }
  out += band(columns, widths);
  if (!left_out.empty()) out += fmt::format("no room for: {}\n", left_out);
  return out;
}

std::string Table::fitted() const { return str(terminal_columns(STDOUT_FILENO)); }

bool in_percent(const std::string& metric) {
  const auto known = metric_named(metric.substr(metric.find('/') + 1));
  return !known || known->facts().units == "percent";
}

std::string decimal_text(double value, int decimals) {
  constexpr double kLong = 1e7;
  return std::abs(value) < kLong ? fmt::format("{:.{}f}", value, decimals)
                                 : fmt::format("{:.3g}", value);
}

std::string metric_text(double value, const std::string& metric, int decimals) {
  if (std::isnan(value)) return "-";
  const bool small = value != 0 && std::abs(value) < 0.1;
  return small && !in_percent(metric) ? fmt::format("{:.2g}", value)
                                      : decimal_text(value, decimals);
}

std::vector<std::string> main_metrics(const MetricTable& table) {
  std::vector<std::string> names;
  for (const std::size_t m : in_order(table))
    if (table.facts[m].main) names.push_back(table.metrics[m]);
  return names;
}

std::string metrics_by_length(const MetricTable& table, const std::vector<std::string>& metrics) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 1; r < table.rows.size(); ++r)
    if (table.sentences[r] > 0) rows.push_back(r);
  if (!table.rows.empty()) rows.push_back(0);

  std::vector<Table::Column> columns = {{table.length_unit.empty() ? "length" : table.length_unit},
                                        {"n", Side::right}};
  std::vector<std::size_t> shown;
  for (const std::size_t m : in_order(table)) {
    const auto defined = [&](std::size_t r) { return !std::isnan(table.at(r, m)); };
    const auto asked = [&](const std::string& name) {
      return std::ranges::find(metrics, name) != metrics.end();
    };
    if (!asked(table.metrics[m]) && !asked(table.facts[m].baseline_of)) continue;
    if (!std::ranges::any_of(rows, defined)) continue;
    shown.push_back(m);
    columns.push_back({table.metrics[m], Side::right});
  }
  Table text(columns);
  for (const std::size_t r : rows) {
    std::vector<std::string> cells = {table.rows[r], fmt::format("{}", table.sentences[r])};
    for (const std::size_t m : shown)
      cells.push_back(metric_text(table.at(r, m), table.metrics[m]));
    text.row(std::move(cells));
  }
  return ways_of_measuring(table, shown, terminal_columns(STDOUT_FILENO)) + text.fitted();
}

std::string of_lines(Index kept, Index read) {
  return kept == read ? "" : fmt::format(", {} of {} lines", kept, read);
}

std::string of_lines(const Record& record) {
  const auto count = [&](const char* name) {
    return record.attribute<Index>("data/test", name).value_or(0);
  };
  return of_lines(count("kept"), count("read"));
}

std::string signatures(const MetricTable& table) {
  std::string out;
  for (std::size_t m = 0; m < table.metrics.size(); ++m)
    if (const std::string& signature = table.facts[m].signature; !signature.empty())
      out += fmt::format("{}: {}\n", table.metrics[m], signature);
  return out;
}

}  // namespace softalign::app
