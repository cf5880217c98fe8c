#include "framework/app/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/eval/metric.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign::app {
namespace {

// In the order in which people look at them: what was measured while the decoder was fed the
// reference, then what the search's hypotheses are worth. Others follow.
constexpr std::array<std::string_view, 6> kForced = {"perplexity",
                                                     "loss",
                                                     "token_accuracy",
                                                     "pointing_accuracy",
                                                     "pointing_accuracy_ibm_model1",
                                                     "attention_entropy"};
constexpr std::array<std::string_view, 4> kSearched = {
    "exact_match", "free_running_accuracy", "bleu", "chrf"};
constexpr std::array<std::string_view, 5> kMain = {
    "perplexity", "token_accuracy", "pointing_accuracy", "exact_match", "bleu"};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> in_order(const std::vector<std::string>& metrics) {
  std::vector<std::string> ordered;
  for (const auto known :
       {std::span<const std::string_view>(kForced), std::span<const std::string_view>(kSearched)})
    for (const std::string_view name : known)
      if (std::find(metrics.begin(), metrics.end(), name) != metrics.end())
        ordered.emplace_back(name);
  for (const std::string& name : metrics)
    if (!among(kForced, name) && !among(kSearched, name)) ordered.push_back(name);
  return ordered;
}

// "teacher-forced: perplexity to loss; by the search: bleu", of columns in order; on two lines
// where there is no room for one.
std::string ways_of_measuring(const std::vector<std::string>& columns, std::size_t most) {
  const auto part = [&](const char* way, std::span<const std::string_view> names) {
    std::string first, last;
    for (const std::string& column : columns)
      if (among(names, column)) (first.empty() ? first : last) = column;
    if (first.empty()) return first;
    return fmt::format("{}: {}{}", way, first, last.empty() ? "" : " to " + last);
  };
  const std::string forced = part("teacher-forced", kForced),
                    searched = part("by the search", kSearched);
  if (forced.empty() && searched.empty()) return "nothing is measured: no references\n";
  if (forced.empty() || searched.empty()) return forced + searched + "\n";
  const bool fits = most == 0 || forced.size() + 2 + searched.size() <= most;
  return forced + (fits ? "; " : "\n") + searched + "\n";
}

// metric: "bleu", "dev/bleu"; baselines, which are no plugins, are percentages.
bool in_percent(const std::string& metric) {
  const std::string name = metric.substr(metric.find('/') + 1);
  return !Registry::instance().find_if_present(MetricKind::name, name) ||
         make_plugin<MetricKind>({.kind = MetricKind::name, .type = name})->units() == "percent";
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

std::string metric_text(double value, const std::string& metric) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (value != 0 && size < 0.1 && !in_percent(metric)) return fmt::format("{:.2g}", value);
  return size < 1e7 ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
}

std::vector<std::string> main_metrics(const MetricTable& table) {
  std::vector<std::string> names;
  for (const std::string_view name : kMain)
    if (std::find(table.metrics.begin(), table.metrics.end(), name) != table.metrics.end())
      names.emplace_back(name);
  return names;
}

std::string metrics_by_length(const MetricTable& table, const std::vector<std::string>& metrics) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 1; r < table.rows.size(); ++r)
    if (table.sentences[r] > 0) rows.push_back(r);
  if (!table.rows.empty()) rows.push_back(0);

  std::vector<Table::Column> columns = {{"length"}, {"n", Side::right}};
  std::vector<std::string> shown;
  for (const std::string& metric : in_order(metrics)) {
    const bool defined = std::any_of(rows.begin(), rows.end(), [&](std::size_t r) {
      return !std::isnan(table.at(table.rows[r], metric));
    });
    if (!defined) continue;
    shown.push_back(metric);
    columns.push_back({metric, Side::right});
  }
  Table text(columns);
  for (const std::size_t r : rows) {
    std::vector<std::string> cells = {table.rows[r], fmt::format("{}", table.sentences[r])};
    for (const std::string& metric : shown)
      cells.push_back(metric_text(table.at(table.rows[r], metric), metric));
    text.row(std::move(cells));
  }
  return ways_of_measuring(shown, terminal_columns(STDOUT_FILENO)) + text.fitted();
}

Json metrics_json(const MetricTable& table) {
  Json json = Json::object();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    Json& row = json[table.rows[r]];
    row["n"] = table.sentences[r];
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      if (std::isfinite(table.at(0, m))) row[table.metrics[m]] = table.at(r, m);
  }
  return json;
}

MetricTable stored_metrics(const Record& record) {
  MetricTable table = read_totals(record);
  const std::string group = "test/by_length";
  if (table.rows.empty()) return table;
  const auto numbers = [&](const std::string& name) {
    const Values values = record.array(group, name).values;
    std::vector<double> column;
    std::visit(
        [&](const auto& list) {
          if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(list)>::value_type>)
            for (const auto value : list) column.push_back(static_cast<double>(value));
        },
        values);
    return column;
  };
  const Values labels = record.array(group, "label").values;
  const auto* names = std::get_if<std::vector<std::string>>(&labels);
  if (!names) throw DataError("{}: {}/label is no text", record.file().string(), group);

  table.rows.insert(table.rows.end(), names->begin(), names->end());
  for (const double n : numbers("n")) table.sentences.push_back(static_cast<Index>(n));
  std::vector<std::vector<double>> columns;
  for (const std::string& name : table.metrics) {
    columns.push_back(numbers(name));
    if (columns.back().size() != names->size())
      throw DataError("{}: {}/{} has another length", record.file().string(), group, name);
  }
  for (std::size_t r = 0; r < names->size(); ++r)
    for (const auto& column : columns) table.values.push_back(column[r]);
  return table;
}

}  // namespace softalign::app
