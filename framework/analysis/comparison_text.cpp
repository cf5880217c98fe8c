#include "framework/analysis/comparison_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/analysis/metric_text.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

int decimals_of(const ComparisonColumn& column) { return column.facts.units == "percent" ? 2 : 4; }

std::string seeds_text(const Seeds& seeds, int decimals, bool signs = false) {
  if (seeds.count == 0) return "-";
  std::string text = decimal_text(seeds.mean, decimals);
  if (signs && text.front() != '-') text.insert(0, "+");
  if (seeds.count > 1 && std::isfinite(seeds.deviation))
    text += " ±" + decimal_text(seeds.deviation, decimals);
  return text;
}

std::vector<Difference> parameters_of(const Comparison& comparison) {
  std::vector<Difference> all;
  for (const ComparedGroup& group : comparison.groups) all.push_back(group.parameters);
  return all;
}

// Paths in the order in which `differences` puts them.
std::vector<std::string> paths_of(const std::vector<Difference>& all) {
  std::vector<std::string> paths;
  for (const Difference& difference : all)
    for (const auto& [path, value] : difference)
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  return paths;
}

std::string value_at(const Difference& parameters, const std::string& path) {
  for (const auto& [name, value] : parameters)
    if (name == path) return value;
  return "-";
}

std::string names_of(const ComparedGroup& group) {
  std::set<std::string> names;
  for (const Run* run : group.runs) names.insert(run->name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string title_of(const ComparisonColumn& column) {
  if (column.facts.units.empty() || column.facts.units == "1" || column.facts.units == "percent")
    return column.name.text;
  return fmt::format("{} ({})", column.name.text, column.facts.units);
}

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

std::string groups_text(const Comparison& comparison, std::size_t width) {
  const std::vector<Difference> parameters = parameters_of(comparison);
  const auto paths = paths_of(parameters);
  const auto names = short_names(parameters);
  std::set<std::string> run_names;
  for (const ComparedGroup& group : comparison.groups) run_names.insert(names_of(group));

  constexpr std::size_t kLeast = 8;
  std::vector<Table::Column> columns = {{"#", Side::right}};
  if (run_names.size() > 1) columns.push_back({"name", Side::left, kLeast});
  for (const std::string& path : paths)
    columns.push_back({names.at(path), Side::left, std::max(kLeast, names.at(path).size())});
  columns.push_back({"seeds", Side::right});
  for (const ComparisonColumn& column : comparison.columns)
    columns.push_back({title_of(column) + " ", Side::right});
  Table table(columns);
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    const ComparedGroup& group = comparison.groups[g];
    std::vector<std::string> cells = {fmt::format("{}", g + 1)};
    if (run_names.size() > 1) cells.push_back(names_of(group));
    for (const std::string& path : paths) cells.push_back(value_at(group.parameters, path));
    cells.push_back(fmt::format("{}", group.runs.size()));
    for (const ComparisonColumn& column : comparison.columns) {
      const Seeds& seeds = column.cells[g];
      std::string cell = seeds_text(seeds, decimals_of(column));
      if (seeds.count > 0 && seeds.count < std::ssize(group.runs))
        cell += fmt::format(" n={}", seeds.count);
      cells.push_back(cell + (column.best == static_cast<int>(g) ? "*" : " "));
    }
    table.row(std::move(cells));
  }
  return table.str(width);
}

// "attention=none", "tiny", of the baseline.
std::string label_of(const Comparison& comparison, std::size_t group) {
  const std::string text =
      difference_text(comparison.groups[group].parameters, short_names(parameters_of(comparison)));
  return printable(text.empty() ? names_of(comparison.groups[group]) : text, kWhole);
}

std::string p_text(const std::optional<PairedTest>& test, double p) {
  return test && !std::isnan(p) ? fmt::format("{:.4f}", p) : "-";
}

bool has_p(const AgainstBaseline& against) {
  return against.test && !std::isnan(against.test->p_randomisation);
}

// Whether some metric has a p in more than one group, so that correcting changes something.
bool several(const Comparison& comparison) {
  std::map<std::size_t, int> tested;
  for (const AgainstBaseline& against : comparison.against)
    if (has_p(against) && ++tested[against.column] > 1) return true;
  return false;
}

// Groups that can be paired with the baseline.
std::vector<AgainstBaseline> paired(const Comparison& comparison) {
  std::vector<AgainstBaseline> rows = comparison.against;
  std::erase_if(rows, [](const AgainstBaseline& row) { return row.difference.count == 0; });
  return rows;
}

// The number of pairs, where it is the same everywhere.
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
  const bool with_p = std::ranges::any_of(rows, has_p);
  std::vector<Table::Column> columns = {
      {"metric"}, {"#", Side::right}, {"difference", Side::right}};
  if (vary) columns.push_back({"pairs", Side::right});
  columns.push_back({"test set", Side::right});
  for (const auto& [name, spare] : {std::pair{"AR p", 0}, std::pair{"BS p", 1}}) {
    if (!with_p) break;
    columns.push_back({name, Side::right, 0, spare});
    if (corrected) columns.push_back({"Holm", Side::right, 0, 2 * spare});
  }
  Table table(columns);
  const std::string* last = nullptr;
  for (const AgainstBaseline& against : rows) {
    const ComparisonColumn& column = comparison.columns[against.column];
    const int decimals = decimals_of(column);
    const auto& test = against.test;
    const bool again = last && *last == column.name.text;
    last = &column.name.text;
    std::vector<std::string> cells = {again ? "" : column.name.text,
                                      fmt::format("{}", against.group + 1),
                                      seeds_text(against.difference, decimals, true)};
    if (vary) cells.push_back(fmt::format("{}", against.difference.count));
    const double half = test ? test->of_difference.half_width : kUndefined;
    cells.push_back(std::isnan(half) ? "-" : "±" + decimal_text(half, decimals));
    if (with_p) cells.push_back(p_text(test, test ? test->p_randomisation : 0));
    if (corrected) cells.push_back(p_text(test, against.p_randomisation));
    if (with_p) cells.push_back(p_text(test, test ? test->p_bootstrap : 0));
    if (corrected) cells.push_back(p_text(test, against.p_bootstrap));
    table.row(std::move(cells));
  }
  return table.str(width);
}

// "not tested: #3 bleu, #4 bleu: other test sentences", a line for each reason.
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
                   const PairedTestOptions& draws) {
  std::string text =
      pairs_of(rows) == 1
          ? "difference  of one pair of runs: how far training varies is not known, so no p\n"
          : "difference  mean ±sd over pairs of runs of one seed: the training varies\n";
  if (std::ranges::any_of(rows, [](const auto& against) { return against.test.has_value(); }))
    text += "test set    half its 95 % bootstrap interval: the models stay, sentences vary\n";
  if (std::ranges::any_of(rows, has_p))
    text += fmt::format(
        "AR p        paired approximate randomisation, {} trials\n"
        "BS p        paired bootstrap, {} resamples; differences centred at their mean\n"
        "{}",
        with_commas(draws.trials),
        with_commas(draws.resamples),
        several(comparison) ? "Holm        the p before it, corrected for the groups compared\n"
                            : "");
  return text;
}

// "variance of bleu explained: learning_rate 55 %, units 26 %, all parameters together 83 %", of the first column.
std::string importance_text(const Comparison& comparison) {
  constexpr double kLeast = 0.005;  // is shown as 0 %
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
                            const PairedTestOptions& draws,
                            std::size_t width) {
  std::string text =
      head(comparison) + groups_text(comparison, width) + importance_text(comparison);
  for (const ComparisonColumn& column : comparison.columns)
    if (!column.facts.signature.empty())
      text += fmt::format("{}: {}\n", column.name.text, printable(column.facts.signature, kWhole));
  if (comparison.against.empty()) return text;
  text += fmt::format(
      "\nagainst #{}, {}", comparison.baseline + 1, label_of(comparison, comparison.baseline));
  const std::vector<AgainstBaseline> rows = paired(comparison);
  if (rows.empty()) return text + "\n" + untested_text(comparison);
  if (const auto pairs = pairs_of(rows))
    text += fmt::format("; {}", counted(usize(*pairs), "pair"));
  return text + fmt::format("\n{}\n{}{}",
                            against_text(comparison, rows, width),
                            legend(comparison, rows, draws),
                            untested_text(comparison));
}

}  // namespace softalign
