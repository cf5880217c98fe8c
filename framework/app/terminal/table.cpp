#include "framework/app/terminal/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "framework/analysis/run.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/eval/metric.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign::app {
namespace {

// Returns the indices of a table's metrics in display order.
std::vector<std::size_t> in_order(const MetricTable& table) {
  std::vector<std::size_t> places(table.metrics.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](std::size_t m) {
    return std::tuple(table.facts[m].searched, table.facts[m].order);
  });
  return places;
}

// Returns "teacher-forced: perplexity to loss; by the search: bleu" for columns in order, on two
// lines if one would be longer than `most`.
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
  if (forced.empty() && searched.empty()) return "not measured: no references\n";
  if (forced.empty() || searched.empty()) return forced + searched + "\n";
  const bool fits = most == 0 || forced.size() + 2 + searched.size() <= most;
  return forced + (fits ? "; " : "\n") + searched + "\n";
}

}  // namespace

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
