#include "framework/analysis/comparison_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/analysis/metric_text.hpp"
#include "framework/analysis/table_writer.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

// Returns all paths in the order of `differences`.
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

// Returns the parts that legends show for the plugin of a path, unless they have a column: " (additive)".
std::string parts_text(const ComparedGroup& group,
                       const std::string& path,
                       const std::set<std::string>& naming,
                       const std::vector<std::string>& columns) {
  if (!path.ends_with(kType) || value_at(group.parameters, path) == "-") return "";
  const std::string block = path.substr(0, path.size() - kType.size() + 1);
  std::string parts;
  for (const auto& [other, value] : options_of(group.runs.front()->configuration))
    if (other != path && other.starts_with(block) && naming.contains(other) &&
        std::ranges::count(columns, other) == 0)
      parts += (parts.empty() ? " (" : ", ") + value;
  return parts.empty() ? "" : parts + ")";
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text, kWhole)) {
    if (std::string_view("|\\*_`<[").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string latex_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text, kWhole))
    if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '~' || c == '^')
      out += fmt::format("\\{}{{}}", c);
    else
      out += (std::string_view("&%$#_{}").find(c) != std::string_view::npos ? "\\" : "") +
             std::string(1, c);
  return out;
}

}  // namespace

int decimals_of(const ComparisonColumn& column) { return column.facts.units == "percent" ? 2 : 4; }

std::string seeds_text(const Seeds& seeds, int decimals, bool signs) {
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

GroupTable described_groups(const Comparison& comparison) {
  const std::vector<Difference> parameters = parameters_of(comparison);
  const auto paths = paths_of(parameters);
  const auto names = short_names(parameters);
  std::vector<std::string> identities;
  for (const ComparedGroup& group : comparison.groups)
    identities.push_back(group.runs.front()->configuration);
  const std::set<std::string> naming = naming_parts(identities);
  std::set<std::string> run_names;
  for (const ComparedGroup& group : comparison.groups) run_names.insert(names_of(group));
  GroupTable table{{"#"}, {}};
  if (run_names.size() > 1) table.titles.emplace_back("name");
  for (const std::string& path : paths) table.titles.push_back(names.at(path));
  table.titles.emplace_back("seeds");
  for (const ComparedGroup& group : comparison.groups) {
    auto& row = table.rows.emplace_back();
    row.push_back(fmt::format("{}", table.rows.size()));
    if (run_names.size() > 1) row.push_back(names_of(group));
    for (const std::string& path : paths)
      row.push_back(value_at(group.parameters, path) + parts_text(group, path, naming, paths));
    row.push_back(fmt::format("{}", group.runs.size()));
  }
  return table;
}

bool is_best(const ComparisonColumn& column, std::size_t group) {
  return column.best == static_cast<int>(group);
}

std::string markdown_table(const Comparison& comparison, const ShownColumns& shown) {
  const GroupTable groups = described_groups(comparison);
  std::string head = "|", rule = "|", rows;
  for (const std::string& title : groups.titles) {
    head += fmt::format(" {} |", markdown_text(title));
    rule += title == "#" || title == "seeds" ? " ---: |" : " --- |";
  }
  for (const ComparisonColumn* column : shown) {
    head += fmt::format(" {} |", markdown_text(title_of(*column)));
    rule += " ---: |";
  }
  for (std::size_t g = 0; g < groups.rows.size(); ++g) {
    rows += "|";
    for (const std::string& cell : groups.rows[g])
      rows += fmt::format(" {} |", markdown_text(cell));
    for (const ComparisonColumn* column : shown) {
      const char* bold = is_best(*column, g) ? "**" : "";
      rows +=
          fmt::format(" {}{}{} |", bold, seeds_text(column->cells[g], decimals_of(*column)), bold);
    }
    rows += "\n";
  }
  return fmt::format("{}\n{}\n{}", head, rule, rows);
}

std::string latex_table(const Comparison& comparison, const ShownColumns& shown) {
  const GroupTable groups = described_groups(comparison);
  std::string form, head, rows;
  const auto add = [](std::string& line, const std::string& cell) {
    line += (line.empty() ? "" : " & ") + cell;
  };
  for (const std::string& title : groups.titles) {
    form += title == "#" || title == "seeds" ? 'r' : 'l';
    add(head, latex_text(title));
  }
  for (const ComparisonColumn* column : shown) {
    form += 'r';
    add(head, latex_text(title_of(*column)));
  }
  for (std::size_t g = 0; g < groups.rows.size(); ++g) {
    std::string row;
    for (const std::string& cell : groups.rows[g]) add(row, latex_text(cell));
    for (const ComparisonColumn* column : shown) {
      const Seeds& seeds = column->cells[g];
      const int decimals = decimals_of(*column);
      std::string cell = seeds.count == 0 ? "--" : decimal_text(seeds.mean, decimals);
      if (is_best(*column, g)) cell = fmt::format("\\textbf{{{}}}", cell);
      if (seeds.count > 1 && std::isfinite(seeds.deviation))
        cell += fmt::format(" $\\pm$ {}", decimal_text(seeds.deviation, decimals));
      add(row, cell);
    }
    rows += row + " \\\\\n";
  }
  return fmt::format(
      "\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n{}\\bottomrule\n\\end{{tabular}}\n",
      form,
      head,
      rows);
}

std::string csv_table(const Comparison& comparison, const ShownColumns& shown) {
  const GroupTable groups = described_groups(comparison);
  std::vector<std::string> titles = groups.titles;
  titles.front() = "group";
  for (const ComparisonColumn* column : shown) {
    titles.push_back(column->name.text);
    titles.push_back(column->name.text + " sd");
  }
  TableWriter writer(TableFormat::csv, titles);
  for (std::size_t g = 0; g < groups.rows.size(); ++g) {
    std::vector<Cell> cells(groups.rows[g].begin(), groups.rows[g].end());
    for (const ComparisonColumn* column : shown) {
      const Seeds& seeds = column->cells[g];
      cells.emplace_back(seeds.count > 0 ? seeds.mean : kUndefined);
      cells.emplace_back(seeds.count > 1 ? seeds.deviation : kUndefined);
    }
    writer.row(cells);
  }
  return writer.finish();
}

}  // namespace softalign
