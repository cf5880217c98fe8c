// Runs of one test set beside each other, as a report shows them: the runs that arguments name, their panels
// and series, their comparison, and their metrics by source length.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/run.hpp"
#include "framework/base/error.hpp"

namespace softalign {

// The runs that arguments name, each RUN (find_run) or a folder above some: in the order of the arguments,
// those of one folder by path, each once. Their summaries are read, through the index where a folder has one. A
// run whose identity cannot be read has no configuration.
std::vector<Run> named_runs(const std::vector<std::string>& arguments, const std::string& results);

// Marks the twins among the runs.
void mark_twins(std::vector<Run>& runs);

// Puts the runs into panels, one for each test set and unit of length, called by the names of its runs, where
// there are several; and into series, one for each configuration. A run that was not tested yet is in the panel
// of its task.
void place_by_test_set(std::vector<Run>& runs);

// The dev metric that all runs stop early by, else dev/loss.
std::string watched_metric(const std::vector<Run>& runs);

// Every series once, in the order of the runs.
std::vector<std::string> series_of(const std::vector<Run>& runs);
// The series, the best first: by the mean over seeds of a dev metric ("dev/loss"), never by the test set.
// planned: only complete runs count, and more of them come before fewer.
std::vector<std::string> ranked_series(const std::vector<Run>& runs,
                                       const std::string& metric,
                                       bool planned);

// Metrics by source length, of groups of runs that differ in nothing but the seed.
struct LengthCell {
  Index sentences = 0, most = 0;  // of the run with the fewest in this bucket, and with the most
  std::vector<double> seeds;      // the value of each run; NaN: not defined
  Seeds over_seeds;               // of those that are defined
  // 95 %, for other seeds and other sentences (Estimate), within the metric's range; of one seed for other sentences
  // alone. NaN where it is not known: other sentences in each seed, too few of them, a metric that is not registered.
  Range interval;
  bool recorded = false;  // a run of the group has this bucket of its own
};

struct LengthTable {
  std::string metric;
  MetricFacts facts;
  std::vector<std::string> buckets;  // "all", then "1-10", ...
  struct Row {
    std::string name;
    std::vector<LengthCell> cells;  // [buckets]
  };
  std::vector<Row> rows;  // a group of runs each
};

// A cell of a table: runs that differ in nothing but the seed, in "all" or in a bucket, "1-10". Their lengths must
// have been read (read_lengths); runs whose sentences were not have no interval.
LengthCell length_cell(const std::vector<const Run*>& runs,
                       const std::string& metric,
                       const std::string& bucket,
                       const BootstrapOptions& draws);
// A table for each metric that a run of the groups has, in the order in which people look at them.
std::vector<LengthTable> length_tables(const std::vector<ComparedGroup>& groups,
                                       const std::vector<std::string>& names,
                                       const BootstrapOptions& draws);

// Runs of a panel whose records are read: those of the first series. Of the others there is what their summaries say.
inline constexpr std::size_t kDetailedRuns = 300;
// (panel, series)
using DetailedSeries = std::set<std::pair<std::string, std::string>>;
DetailedSeries detailed_series(const std::vector<Run>& runs,
                               const std::vector<std::string>& series,
                               std::size_t most = kDetailedRuns);

// Number of groups that are tested by default.
inline constexpr std::size_t kTestedUnasked = 10;

struct Panel {
  std::string name;
  std::vector<std::string> series;       // of the groups
  std::vector<Run> runs;                 // by series; those with few series have their sentences
  std::optional<Comparison> comparison;  // in the main metrics; points at the runs
  std::vector<LengthTable> tables;       // of the series whose records were read
};

// series: the order of the groups. detailed: those whose records are read. The baseline is the group that `compare` takes; ordered: that of
// the groups in this order. What is left out, and why, is added to left_out.
Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               const DetailedSeries& detailed,
               bool ordered,
               const BootstrapOptions& draws,
               std::vector<LeftOut>& left_out);

}  // namespace softalign
