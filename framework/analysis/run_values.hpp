// Values of runs by name, for lists, exports and filters: facts of the run ("state", "started", "tags"), the
// options of its identity by path ("model.encoder.units"), its metrics ("test/bleu", "dev/loss").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/analysis/run.hpp"
#include "framework/analysis/table_writer.hpp"
#include "framework/base/json.hpp"

namespace softalign {

using RunValues = std::map<std::string, Cell>;

// Returns the names of the facts that every run has, in the column order of tables.
const std::vector<std::string>& run_facts();

// Returns the facts, options and test metrics of a run. The options of an unreadable identity are absent.
RunValues run_values(const Run& run);

// Returns the text of a cell in conditions and tables: "additive", "0.5", "[2,5]"; "" for an empty cell and NaN.
std::string cell_text(const Cell& cell);
JsonObject cell_json(const Cell& cell);

// NAME OP VALUE. OP: = != < <= > >=. Numbers are compared as numbers, other values as texts; a list equals each of
// its items. A run without the value meets only !=.
struct Condition {
  std::string name;
  std::string op;
  std::string value;
};

// Parses "units>64 and score=dot"; a value with spaces is quoted. Throws SpecError naming `option`.
std::vector<Condition> read_conditions(const std::string& text, const std::string& option);

// The values of several runs, with the last values of series ("dev/loss") and "age", the seconds since the heartbeat.
class RunTable {
 public:
  RunTable(const std::vector<const Run*>& runs, double now);

  // Returns the column that a name means: the column of that name, a test metric ("bleu"), or an option whose path
  // ends in the name ("units", "score" for model.attention.score.type). If several options match, those in which runs
  // differ are preferred. Throws SpecError, naming `option`, if no run has such a column, or the name is ambiguous.
  std::string column(const std::string& name, const std::string& option) const;

  const Cell& at(std::size_t run, const std::string& column) const;  // empty if it has no value
  // Returns the indices of the runs that meet all conditions.
  std::vector<std::size_t> meeting(const std::vector<Condition>& conditions,
                                   const std::string& option) const;
  // Returns the runs sorted by a column, stably: the best value of a metric, the highest of "updates" and "started",
  // and the lowest of other columns first; runs without a value last.
  std::vector<std::size_t> sorted(const std::string& column) const;

 private:
  std::vector<RunValues> runs_;
};

}  // namespace softalign
