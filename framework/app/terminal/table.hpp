// Tables of text in columns, and the tables of metrics that several commands print.
#pragma once

#include <string>
#include <vector>

#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/eval/summary.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

class Table {
 public:
  struct Column {
    std::string name;
    Side side = Side::left;
    std::size_t least = 0;  // may be cut to so many columns where there is no room; 0: never
    int spare = 0;          // may be left out where there is no room, the highest first; 0: never
    bool wraps = false;     // goes on in the next line where it would be cut
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // one for each column
  bool empty() const { return rows_.empty(); }
  // A line of names, then the rows; two blanks between columns, none at the end. In a terminal of
  // `most` columns (0: no limit) cells are wrapped or cut and columns left out, as they allow, and
  // the last line says which; what is still too wide goes on below, behind the first column again.
  std::string str(std::size_t most = 0) const;
  // For standard output, where it is a terminal.
  std::string fitted() const;

 private:
  std::string band(const std::vector<std::size_t>& columns,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

bool in_percent(const std::string& metric);  // "bleu", "dev/bleu"; so are those that nobody knows

// "12.34", of a long number "5.88e+19".
std::string decimal_text(double value, int decimals);

// "12.34", "5.88e+19", "inf"; "0.0051", but "0.01" of a percentage; "-": not defined.
// metric: "bleu", "dev/bleu".
std::string metric_text(double value, const std::string& metric, int decimals = 2);

// Of a table's metrics those that a first look needs.
std::vector<std::string> main_metrics(const MetricTable& table);

// How the metrics were measured, then one line a length bucket that has sentences, the last for
// all. Teacher-forced metrics come first, then those of the search; a metric that no line defines
// is left out, and baselines stand beside their metrics.
std::string metrics_by_length(const MetricTable& table, const std::vector<std::string>& metrics);

// ", 28 of 30 lines"; empty where all were kept.
std::string of_lines(Index kept, Index read);
std::string of_lines(const Record& record);  // of its test set

// A line "bleu: its signature" for each metric that has one.
std::string signatures(const MetricTable& table);

}  // namespace softalign::app
