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

// The facts that every run has, in the order of a table.
const std::vector<std::string>& run_facts();

// Facts, options and metrics of the test. The options of an identity that cannot be read are absent.
RunValues run_values(const Run& run);

// "additive", "0.5", "[2,5]": as a condition and a table have it; empty for nothing and NaN.
std::string cell_text(const Cell& cell);
JsonObject cell_json(const Cell& cell);

// NAME OP VALUE. OP: = != < <= > >=. Numbers are compared as numbers, other values as texts; a list equals each of
// its items. A run without the value meets != only.
struct Condition {
  std::string name;
  std::string op;
  std::string value;
};

// Parses "units>64 and score=dot"; a value with spaces is quoted. Throws SpecError naming `option`.
std::vector<Condition> read_conditions(const std::string& text, const std::string& option);

// Several runs, with their last values of series ("dev/loss") and "age", the seconds since the heartbeat.
class RunTable {
 public:
  RunTable(const std::vector<const Run*>& runs, double now);

  // The column that a name stands for: its own, that of a test's metric ("bleu"), or the path of an option that
  // ends so ("units", "score" for model.attention.score.type). Of several such options those count in which runs
  // differ. Throws SpecError, naming `option`, where no run has such a column, or it may be several.
  std::string column(const std::string& name, const std::string& option) const;

  const Cell& at(std::size_t run, const std::string& column) const;  // empty where the run has none
  // The runs that meet all conditions.
  std::vector<std::size_t> meeting(const std::vector<Condition>& conditions,
                                   const std::string& option) const;
  // Runs by a column: of a metric the best, of "updates" and "started" the highest first, else the lowest; those
  // without a value last, equals as they were.
  std::vector<std::size_t> sorted(const std::string& column) const;

 private:
  std::vector<RunValues> runs_;
};

}  // namespace softalign
