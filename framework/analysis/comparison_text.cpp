#include "framework/analysis/comparison_text.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/analysis/comparison_table.hpp"
#include "framework/analysis/metric_text.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

std::string lengths_text(const LengthRange& lengths) {
  if (lengths.longest == std::numeric_limits<Index>::max())
    return fmt::format("{} and more", lengths.shortest);
  if (lengths.shortest == lengths.longest) return fmt::format("{}", lengths.shortest);
  return fmt::format("{} to {}", lengths.shortest, lengths.longest);
}

std::string head(const Comparison& comparison) {
  std::size_t runs = 0, most = 0;
  bool marked = false;
  for (const ComparedGroup& group : comparison.groups) {
    runs += group.runs.size();
    most = std::max(most, group.runs.size());
  }
  for (const ComparisonColumn& column : comparison.columns) marked |= column.best >= 0;
  std::string text =
      fmt::format("{} in {}", counted(runs, "run"), counted(comparison.groups.size(), "group"));
  if (most > 1) text += "; mean ±sd over the seeds";
  if (marked) text += "; * the best of its column";
  if (!comparison.lengths.all())
    text += fmt::format("\nonly test sentences of source length {}: {}",
                        lengths_text(comparison.lengths),
                        comparison.sentences);
  if (!comparison.same_test_set)
    text += "\nnot all runs were tested on the same sentences, so no test result is the best";
  return text + "\n";
}

// Returns the metrics that are shown. A metric in which no group differs is hidden because it tells nothing about them.
ShownColumns shown_columns(const Comparison& comparison, const ComparisonForm& form) {
  ShownColumns shown;
  for (const ComparisonColumn& column : comparison.columns) {
    const auto as_first = [&](const Seeds& cell) {
      const Seeds& first = column.cells.front();
      return cell.count == 0 ? first.count == 0
                             : first.count > 0 && cell.mean == first.mean &&
                                   !(cell.count > 1 && cell.deviation > 0);
    };
    if (form.all_columns || comparison.groups.size() < 2 ||
        !std::ranges::all_of(column.cells, as_first))
      shown.push_back(&column);
  }
  return shown;
}

// Returns a text in lines of at most `width` columns; 0: one line.
std::string lines_of(const std::string& text, std::size_t width) {
  if (width == 0) return text + "\n";
  return fmt::format("{}\n", fmt::join(wrapped(text, width), "\n"));
}

// Returns "teacher-forced (the reference up to each word is given): loss", and the same for metrics of the search.
std::string ways_text(const ShownColumns& columns, std::size_t width) {
  std::string text;
  for (const auto& [searched, way] :
       {std::pair{false, "teacher-forced (the reference up to each word is given)"},
        std::pair{true, "from the search (the model reads its own words)"}}) {
    std::string names;
    for (const ComparisonColumn* column : columns)
      if (column->facts.searched == searched)
        names += (names.empty() ? "" : ", ") + column->name.text;
    if (!names.empty()) text += lines_of(fmt::format("{}: {}", way, names), width);
  }
  return text;
}

std::string hidden_text(const Comparison& comparison,
                        const ShownColumns& shown,
                        std::size_t width) {
  std::string names;
  for (const ComparisonColumn& column : comparison.columns)
    if (std::ranges::count(shown, &column) == 0) {
      names += (names.empty() ? "" : ", ") + column.name.text;
      if (const Seeds& first = column.cells.front(); first.count > 0)
        names += " " + seeds_text(first, decimals_of(column));
    }
  return names.empty() ? "" : lines_of("the same in every group: " + names, width);
}

std::string groups_text(const Comparison& comparison,
                        const ShownColumns& shown,
                        std::size_t width) {
  constexpr std::size_t kLeast = 8;
  GroupTable groups = described_groups(comparison);
  std::vector<Table::Column> columns;
  for (const std::string& title : groups.titles)
    if (title == "#" || title == "seeds")
      columns.push_back({title, Side::right});
    else
      columns.push_back({title, Side::left, std::max(kLeast, title.size())});
  for (const ComparisonColumn* column : shown)
    columns.push_back({title_of(*column) + " ", Side::right});
  Table table(columns);
  for (std::size_t g = 0; g < groups.rows.size(); ++g) {
    std::vector<std::string> cells = std::move(groups.rows[g]);
    for (const ComparisonColumn* column : shown) {
      const Seeds& seeds = column->cells[g];
      std::string cell = seeds_text(seeds, decimals_of(*column));
      if (seeds.count > 0 && seeds.count < std::ssize(comparison.groups[g].runs))
        cell += fmt::format(" n={}", seeds.count);
      cells.push_back(cell + (is_best(*column, g) ? "*" : " "));
    }
    table.row(std::move(cells));
  }
  return table.str(width);
}

// Returns the label of a group: its parameters, "attention=none", else the names of its runs, "tiny".
std::string label_of(const Comparison& comparison, std::size_t group) {
  const std::string text =
      difference_text(comparison.groups[group].parameters, short_names(parameters_of(comparison)));
  return printable(text.empty() ? names_of(comparison.groups[group]) : text, kWhole);
}

bool is_tested(const AgainstBaseline& against) { return !std::isnan(against.estimate.p); }

std::string interval_text(const Range& interval, int decimals) {
  return std::isnan(interval.low) ? "-"
                                  : fmt::format("[{}, {}]",
                                                decimal_text(interval.low, decimals),
                                                decimal_text(interval.high, decimals));
}

// Returns whether some metric is tested in several groups, so that Holm's correction has an effect.
bool several(const Comparison& comparison) {
  std::map<std::size_t, int> tested;
  for (const AgainstBaseline& against : comparison.against)
    if (is_tested(against) && ++tested[against.column] > 1) return true;
  return false;
}

// Returns the comparisons that have pairs with the baseline.
std::vector<AgainstBaseline> paired(const Comparison& comparison) {
  std::vector<AgainstBaseline> rows = comparison.against;
  std::erase_if(rows, [](const AgainstBaseline& row) { return row.difference.count == 0; });
  return rows;
}

// Returns the number of pairs if it is the same in all rows.
std::optional<Index> pairs_of(const std::vector<AgainstBaseline>& rows) {
  const Index pairs = rows.front().difference.count;
  for (const AgainstBaseline& against : rows)
    if (against.difference.count != pairs) return std::nullopt;
  return pairs;
}

std::string against_text(const Comparison& comparison,
                         const std::vector<AgainstBaseline>& rows,
                         std::size_t width) {
  const bool corrected = several(comparison), vary = !pairs_of(rows);
  const bool tested = std::ranges::any_of(rows, is_tested);
  std::vector<Table::Column> columns = {
      {"metric"}, {"#", Side::right}, {"difference", Side::right}};
  if (vary) columns.push_back({"pairs", Side::right});
  if (tested) columns.insert(columns.end(), {{"95 %", Side::right}, {"p", Side::right}});
  if (corrected) columns.push_back({"Holm", Side::right});
  Table table(columns);
  const std::string* last = nullptr;
  for (const AgainstBaseline& against : rows) {
    const ComparisonColumn& column = comparison.columns[against.column];
    const int decimals = decimals_of(column);
    const bool again = last && *last == column.name.text;
    last = &column.name.text;
    std::vector<std::string> cells = {again ? "" : column.name.text,
                                      fmt::format("{}", against.group + 1),
                                      seeds_text(against.difference, decimals, true)};
    if (vary) cells.push_back(fmt::format("{}", against.difference.count));
    if (tested) cells.push_back(interval_text(against.estimate.interval, decimals));
    if (tested) cells.push_back(p_text(against.estimate.p));
    if (corrected) cells.push_back(p_text(against.p_holm));
    table.row(std::move(cells));
  }
  return table.str(width);
}

// Returns a line for each reason: "not tested (other test sentences): #3 bleu, #4 bleu".
std::string untested_text(const Comparison& comparison) {
  std::map<std::string, std::string> by_reason;
  for (const AgainstBaseline& against : comparison.against) {
    if (against.untested.empty()) continue;
    std::string& list = by_reason[against.untested];
    list += fmt::format("{}#{} {}",
                        list.empty() ? "" : ", ",
                        against.group + 1,
                        comparison.columns[against.column].name.text);
  }
  std::string text;
  for (const auto& [reason, list] : by_reason)
    text += fmt::format("not tested ({}): {}\n", reason, list);
  return text;
}

std::string legend(const Comparison& comparison,
                   const std::vector<AgainstBaseline>& rows,
                   const BootstrapOptions& draws) {
  std::string text =
      pairs_of(rows) == 1
          ? "difference  of one pair of runs: no p and no interval, since training varies\n"
          : "difference  mean ±sd over pairs of runs of one seed\n";
  if (std::ranges::any_of(rows, is_tested))
    text += chance_text(draws.resamples) +
            (several(comparison) ? "Holm        p corrected for the groups compared\n" : "");
  return text;
}

// Returns for the first column "variance of bleu explained: units 26 %, all parameters together 83 %".
std::string importance_text(const Comparison& comparison) {
  constexpr double kLeast = 0.005;  // smaller shares would round to 0 %
  if (comparison.columns.empty()) return "";
  const auto importance = importance_of(comparison, comparison.columns.front());
  if (!importance) return "";
  const auto names = short_names(parameters_of(comparison));
  std::string text;
  for (const Effect& effect : importance->effects) {
    if (effect.share < kLeast) continue;
    std::string name;
    for (const std::string& path : effect.parameters)
      name += (name.empty() ? "" : " x ") + names.at(path);
    text += fmt::format("{} {:.0f} %, ", printable(name), 100 * effect.share);
  }
  return fmt::format("variance of {} explained: {}all parameters together {:.0f} %\n",
                     comparison.columns.front().name.text,
                     text,
                     100 * importance->explained);
}

}  // namespace

std::string comparison_text(const Comparison& comparison,
                            const BootstrapOptions& draws,
                            const ComparisonForm& form) {
  const ShownColumns shown = shown_columns(comparison, form);
  if (form.format == ComparisonFormat::markdown) return markdown_table(comparison, shown);
  if (form.format == ComparisonFormat::latex) return latex_table(comparison, shown);
  if (form.format == ComparisonFormat::csv) return csv_table(comparison, shown);
  std::string text = head(comparison) + groups_text(comparison, shown, form.width) +
                     ways_text(shown, form.width) + hidden_text(comparison, shown, form.width) +
                     importance_text(comparison);
  for (const ComparisonColumn* column : shown)
    if (!column->facts.signature.empty())
      text +=
          fmt::format("{}: {}\n", column->name.text, printable(column->facts.signature, kWhole));
  if (comparison.against.empty()) return text;
  text += fmt::format(
      "\nagainst #{}, {}", comparison.baseline + 1, label_of(comparison, comparison.baseline));
  const std::vector<AgainstBaseline> rows = paired(comparison);
  if (rows.empty()) return text + "\n" + untested_text(comparison);
  if (const auto pairs = pairs_of(rows))
    text += fmt::format("; {}", counted(usize(*pairs), "pair"));
  return text + fmt::format("\n{}\n{}{}",
                            against_text(comparison, rows, form.width),
                            legend(comparison, rows, draws),
                            untested_text(comparison));
}

}  // namespace softalign
