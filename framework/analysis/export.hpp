// The runs, their learning curves or their test sentences as one table, for other programs.
//
//   runs       a row a run: run_id, name, path, state, seed, updates; every option of its identity
//              by path; "dev/loss" (last), "dev/loss:best", "test/bleu", "test/bleu:signature"
//   curves     a row a number (long form): run_id, name, seed, series, update, metric, value
//   sentences  a row a test sentence: run_id, name, seed, sentence, and all that /test has of it;
//              several numbers of one sentence are bleu_stats_0, bleu_stats_1, .., chrf_stats_00, ..;
//              nothing where it has no reference to be measured by. `every_line`: a row for each line of
//              the test file too that was skipped, with its number alone
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// A table row by row: CSV by RFC 4180 (lines end in CR LF) or a JSON array of
// objects. Numbers are the shortest that read back as the same bits; the same rows give the same
// bytes everywhere.

// A value that only JSON has a type for, as JSON writes it: true, [5,10]. CSV has the same text.
struct JsonValue {
  std::string text;
  bool operator==(const JsonValue&) const = default;
};

// Nothing is an empty field in CSV (an empty text is "") and null in JSON, and so is NaN.
using Cell = std::variant<std::monostate, Index, double, std::string, JsonValue>;

enum class TableFormat { csv, json };

class TableWriter {
 public:
  TableWriter(TableFormat format, std::vector<std::string> columns);
  void row(const std::vector<Cell>& cells);  // one for each column, or BugError
  std::string finish();                      // the whole table

 private:
  TableFormat format_;
  std::vector<std::string> columns_;
  std::vector<std::string> keys_;  // the columns as JSON
  std::string out_;
  bool empty_ = true;
};

enum class ExportWhat { runs, curves, sentences };

struct Export {
  std::string table;                // in the format asked for
  Index runs = 0;                   // that are in it
  std::vector<std::string> faults;  // a line for each run that is not in it
  bool unreadable = false;          // one of these is sound as far as anybody knows
};

// Runs in the order given: folders or records. `path` is as given.
Export export_runs(const std::vector<std::filesystem::path>& runs,
                   ExportWhat what,
                   TableFormat format,
                   bool every_line = false);

}  // namespace softalign
