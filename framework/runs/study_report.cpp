#include "framework/runs/study_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/analysis/significance.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/types.hpp"
#include "framework/runs/row_status.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

constexpr const char* kStudyFormat = "softalign-study";

// The cells of each row, right-aligned in columns; the first column is left-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  const auto width_of = [](const std::string& text) {  // characters, not bytes
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  };
  std::vector<std::ptrdiff_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(usize(widths[c] - width_of(row[c])), ' ');
      line += c == 0 ? row[c] + blanks : "  " + blanks + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Json json_of(const StudyTable& table) {
  Json json{{"part", table.part},
            {"title", table.title},
            {"metric", table.metric},
            {"units", table.units},
            {"columns", table.columns},
            {"rows", Json::array()}};
  for (const StudyTable::Row& row : table.rows) {
    Json values = Json::array();
    for (const Seeds& seeds : row.values) values.push_back(json_of(seeds));
    json["rows"].push_back({{"name", row.name}, {"n", row.n}, {"values", values}});
  }
  return json;
}

}  // namespace

std::string plan_text(const RunList& list, const std::vector<std::size_t>& rows) {
  std::vector<std::vector<std::string>> lines = {{"row", "name", "seed", "id", "state"}};
  std::vector<RowStatus> stands;
  for (const ListedRun& row : list.rows) stands.push_back(row_status(list, row));
  const std::vector<std::string> states = state_texts(list, stands);
  for (const std::size_t i : rows) {
    const ListedRun& row = list.rows[i];
    lines.push_back({fmt::format("{}", row.k),
                     row.part + "-" + row.variant,
                     fmt::format("{}", row.seed),
                     row.run_id,
                     states[i]});
  }
  return aligned(lines);
}

std::string table_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> cells = {{""}};
  std::vector<std::size_t> shown;  // columns that have sentences
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (std::any_of(
            table.rows.begin(), table.rows.end(), [&](const auto& row) { return row.n[c] > 0; }))
      shown.push_back(c);
  for (const std::size_t c : shown) cells[0].push_back(table.columns[c] + " ");
  const std::vector<Index>* n = nullptr;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const StudyTable::Row& row = table.rows[r];
    if (!n || *n != row.n) {
      std::vector<std::string> counts = {"n"};
      for (const std::size_t c : shown) counts.push_back(fmt::format("{} ", row.n[c]));
      cells.push_back(std::move(counts));
      n = &row.n;
    }
    std::vector<std::string> line = {row.name};
    for (const std::size_t c : shown) {
      const bool best = c < table.best.size() && table.best[c] == static_cast<int>(r);
      line.push_back(number_text(row.values[c]) + (best ? "*" : " "));
    }
    cells.push_back(std::move(line));
  }
  return fmt::format("{}: {}{} by source length\n{}",
                     table.title,
                     table.metric,
                     table.units == "1" ? "" : " (" + table.units + ")",
                     aligned(cells));
}

std::string study_json(const Study& study,
                       const RunList& list,
                       const std::vector<std::size_t>& rows,
                       const StudyOutcome& outcome) {
  Json json{{"format", kStudyFormat},
            {"format_version", 1},
            {"name", study.name},
            {"question", study.question},
            {"runs", Json::array()},
            {"tables", Json::array()},
            {"claims", Json::array()}};
  for (const std::size_t i : rows) {
    const ListedRun& row = list.rows[i];
    json["runs"].push_back({{"part", row.part},
                            {"variant", row.variant},
                            {"seed", row.seed},
                            {"run_id", row.run_id},
                            {"path", row.below},
                            {"state", to_string(row_status(list, row).state)}});
  }
  for (const StudyTable& table : outcome.tables) json["tables"].push_back(json_of(table));
  json["claims"] = claims_json(outcome.claims);
  return json.dump(2) + "\n";
}

bool is_study_json(const std::filesystem::path& file) {
  try {
    return read_json<Json>(read_file(file)).value("format", "") == kStudyFormat;
  } catch (const DataError&) {
    return false;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace softalign
