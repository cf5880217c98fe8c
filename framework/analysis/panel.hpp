// Side-by-side runs of one test set, as in a report: the runs that arguments name, their panels and series, their
// comparison, and their metrics by source length.
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

// Returns the runs that arguments name, each a RUN (find_run) or a folder of runs, without duplicates: in the order of
// the arguments, and by path within a folder. Their summaries are read, through the index if a folder has one. A run
// whose identity cannot be read has no configuration.
std::vector<Run> named_runs(const std::vector<std::string>& arguments, const std::string& results);

// Marks the twins among the runs.
void mark_twins(std::vector<Run>& runs);

// Assigns the runs to panels, one for each test set and its conventions (unit of length, meaning of attention rows),
// and to series, one for each configuration. Several panels are named after their runs; a single one has no name. A
// run that was not tested yet is in the panel of its task.
void place_by_test_set(std::vector<Run>& runs);

// Returns the dev metric that all runs use for early stopping, else dev/loss.
std::string watched_metric(const std::vector<Run>& runs);

// Returns every series once, in the order of the runs.
std::vector<std::string> series_of(const std::vector<Run>& runs);
// Returns the series, best first, by the mean over seeds of a dev metric ("dev/loss"), never by the test set.
// planned: only complete runs count, and series with more of them come first.
std::vector<std::string> ranked_series(const std::vector<Run>& runs,
                                       const std::string& metric,
                                       bool planned);

// A metric in one length bucket, for a group of runs that differ only in the seed.
struct LengthCell {
  Index sentences = 0, most = 0;  // least and most sentences of a run in this bucket
  std::vector<double> seeds;      // the value of each run; NaN: undefined
  Seeds over_seeds;               // over the defined values
  // 95 % interval over seeds and sentences (Estimate), within the metric's range; for one seed, over sentences alone.
  // NaN if unknown: the seeds have different sentences or too few of them, or the metric is not registered.
  Range interval;
  bool recorded = false;  // a run of the group recorded this bucket
};

struct LengthTable {
  std::string metric;
  MetricFacts facts;
  std::vector<std::string> buckets;  // "all", then "1-10", ...
  struct Row {
    std::string name;
    std::vector<LengthCell> cells;  // [buckets]
  };
  std::vector<Row> rows;  // one per group of runs
};

// Returns the cell of runs that differ only in the seed, for "all" or a bucket, "1-10". Their lengths must have been
// read (read_lengths); without their sentences (read_sentences), the cell has no interval.
LengthCell length_cell(const std::vector<const Run*>& runs,
                       const std::string& metric,
                       const std::string& bucket,
                       const BootstrapOptions& draws);
// Returns a table for each metric that a run of the groups has, in display order.
std::vector<LengthTable> length_tables(const std::vector<ComparedGroup>& groups,
                                       const std::vector<std::string>& names,
                                       const BootstrapOptions& draws);

// The most runs of a panel whose records are read, in its first series; other runs have only their summaries.
inline constexpr std::size_t kDetailedRuns = 300;
// (panel, series)
using DetailedSeries = std::set<std::pair<std::string, std::string>>;
DetailedSeries detailed_series(const std::vector<Run>& runs,
                               const std::vector<std::string>& series,
                               std::size_t most = kDetailedRuns);

// The most groups that are tested by default.
inline constexpr std::size_t kTestedUnasked = 10;

struct Panel {
  std::string name;
  std::vector<std::string> series;       // of the groups
  std::vector<Run> runs;                 // by series; with sentences in the first kTestedUnasked
  std::optional<Comparison> comparison;  // in the main metrics; points at the runs
  std::vector<LengthTable> tables;       // for the series whose records were read
};

// series: the order of the groups. detailed: the series whose records are read. The baseline is the one that `compare`
// chooses; ordered: chosen with the groups in the order of `series`. Skipped runs are added to left_out, with reasons.
Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               const DetailedSeries& detailed,
               bool ordered,
               const BootstrapOptions& draws,
               std::vector<LeftOut>& left_out);

}  // namespace softalign
