// The lines of softalign ls: which runs, and in which order. Printing is ls.cpp's.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/run_summary.hpp"

namespace softalign::app {

// A run and in what it differs from the others of its name.
struct Line {
  RunSummary summary;
  Difference difference;
  std::string differs;  // the same as text
};

// Of every run below a folder, by path.
std::vector<Line> lines_below(const std::string& folder);

// NaN where there is none. Of dev: the last value that the run's status has.
double last_value(const RunSummary& summary, const std::string& name);  // "system/tokens_per_s"
double dev_value(const RunSummary& summary, const std::string& metric);
double test_value(const RunSummary& summary, const std::string& metric);

// Only lines of these states; all when none is given. Throws SpecError for one that is none.
void keep_states(std::vector<Line>& lines, const std::vector<std::string>& states);

// By "name", "run", "state", "updates", "age", "dev/METRIC" or "test/METRIC": the most updates, the
// youngest and the best first, lines without a value last, equals by path; "" leaves them by path.
// Throws SpecError for another key, or a metric that no line has.
void sort_lines(std::vector<Line>& lines, const std::string& key);

}  // namespace softalign::app
