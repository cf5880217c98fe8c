#include "framework/launch/study_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/analysis/significance.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/error.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/record/status.hpp"

namespace softalign {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "softalign-study";

std::string state_of(const StudyRun& run) {
  return std::string(to_string(run_status({run.folder}).state));
}

std::string number_text(const Seeds& seeds) {
  if (std::isnan(seeds.mean)) return "-";
  if (seeds.count < 2 || std::isinf(seeds.mean)) return fmt::format("{:.2f}", seeds.mean);
  return fmt::format("{:.2f} ±{:.2f}", seeds.mean, seeds.deviation);
}

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
      const std::string blanks(static_cast<std::size_t>(widths[c] - width_of(row[c])), ' ');
      line += c == 0 ? row[c] + blanks : "  " + blanks + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Of a claim whose runs are complete.
std::string verdict_word(const JudgedClaim& judged) {
  if (judged.verdict == Verdict::empty)
    return judged.claim->open ? "open, no sentences" : "NO SENTENCES";
  if (judged.verdict == Verdict::unmeasured)
    return judged.claim->open ? "open, not measured" : "NOT MEASURED";
  const bool holds = judged.verdict == Verdict::holds;
  if (judged.claim->open) return holds ? "open, holds" : "open, does not hold";
  return holds ? "holds" : "FAILS";
}

Json json_of(const Seeds& seeds) {
  return {{"mean", seeds.mean}, {"deviation", seeds.deviation}, {"seeds", seeds.count}};
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

std::string name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::fails:
      return "fails";
    case Verdict::empty:
      return "empty";
    case Verdict::unmeasured:
      return "unmeasured";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

Json json_of(const JudgedClaim& judged) {
  Json json{{"claim", judged.claim->statement.text()},
            {"because", judged.claim->because},
            {"expect", judged.claim->open ? "open" : "holds"},
            {"verdict", name_of(judged.verdict)}};
  if (!judged.judged()) return json;
  json["left"] = json_of(judged.left);
  json["right"] = json_of(judged.right);
  json["sentences"] = judged.sentences;
  json["confidence"] = judged.confidence;
  return json;
}

}  // namespace

bool StudyOutcome::broken() const {
  return std::any_of(claims.begin(), claims.end(), [](const auto& c) { return c.broken(); });
}

std::string plan_text(const std::vector<StudyRun>& runs) {
  std::vector<std::vector<std::string>> rows = {{"run", "name", "seed", "id", "state"}};
  for (const StudyRun& run : runs)
    rows.push_back({fmt::format("{}", rows.size()),
                    run.resolved.spec.name,
                    fmt::format("{}", run.seed),
                    run.run_id,
                    state_of(run)});
  return aligned(rows);
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

std::string claims_text(const std::vector<JudgedClaim>& claims) {
  std::string text;
  Index unknown = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const JudgedClaim& judged = claims[i];
    if (judged.verdict == Verdict::unknown) {
      ++unknown;
      continue;
    }
    const Statement& statement = judged.claim->statement;
    text += fmt::format("{}. {}: {}\n", i + 1, verdict_word(judged), statement.text());
    if (judged.verdict == Verdict::empty)
      text += fmt::format("   no test sentence is as long as {} asks\n", judged.nothing);
    else if (judged.verdict == Verdict::unmeasured)
      text += fmt::format("   {} is not defined over its test sentences\n", judged.nothing);
    else
      text += fmt::format("   {} {} {}; n = {}, {}; so in {:.1f} % of {} resamples\n",
                          number_text(judged.left),
                          statement.comparison(),
                          number_text(judged.right),
                          counted(judged.sentences, "sentence"),
                          counted(judged.left.count, "seed"),
                          100 * judged.confidence,
                          kResamples);
    if (!judged.claim->because.empty())
      text += fmt::format("   because {}\n", judged.claim->because);
  }
  if (unknown > 0)
    text += fmt::format("{} {} not judged yet: runs are missing\n",
                        unknown,
                        unknown == 1 ? "claim is" : "claims are");
  return text;
}

std::string study_json(const Study& study,
                       const std::vector<StudyRun>& runs,
                       const StudyOutcome& outcome) {
  Json json{{"format", kFormat},
            {"format_version", 1},
            {"name", study.name},
            {"question", study.question},
            {"runs", Json::array()},
            {"tables", Json::array()},
            {"claims", Json::array()}};
  for (const StudyRun& run : runs)
    json["runs"].push_back({{"part", run.part},
                            {"variant", run.variant},
                            {"seed", run.seed},
                            {"run_id", run.run_id},
                            {"path", run.resolved.spec.name + "/" + run.run_id},
                            {"state", state_of(run)}});
  for (const StudyTable& table : outcome.tables) json["tables"].push_back(json_of(table));
  for (const JudgedClaim& claim : outcome.claims) json["claims"].push_back(json_of(claim));
  return json.dump(2) + "\n";
}

bool is_study_json(const std::filesystem::path& file) {
  try {
    return Json::parse(read_file(file)).value("format", "") == kFormat;
  } catch (const DataError&) {
    return false;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace softalign
