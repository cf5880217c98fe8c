// Runs of one test set beside each other, as a report shows them: their comparison, and their metrics by source length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/series.hpp"
#include "framework/base/error.hpp"

namespace softalign {

// Metrics by source length, of groups of runs that differ in nothing but the seed. Two kinds of
// variance, never added: over the seeds, and over the choice of test sentences.

struct LengthCell {
  std::vector<double> seeds;  // the value of each run; NaN: not defined
  Seeds over_seeds;           // of those that are defined
  // 95 % percentile bootstrap over the sentences, of the mean over the seeds; NaN where it is not known:
  // other sentences in each seed, fewer than two, a metric that is not registered.
  double low = 0;
  double high = 0;
  bool recorded = false;  // whether a run of the group has this bucket of its own
};

struct LengthTable {
  std::string metric;
  MetricFacts facts;
  std::vector<std::string> buckets;    // "all", then "1-10", ...
  std::vector<Index> sentences, most;  // [buckets] of the run with the fewest, and with the most
  std::vector<std::vector<LengthCell>> cells;  // [groups][buckets]
};

// One for each metric that a run of the groups has, in the order in which people look at them. The
// runs' lengths must have been read (read_lengths); those whose sentences were not have no interval.
std::vector<LengthTable> length_tables(const std::vector<ComparedGroup>& groups,
                                       const PairedTestOptions& draws);

// Groups that are tested unless somebody says otherwise.
inline constexpr std::size_t kTestedUnasked = 10;

struct Panel {
  std::string name;
  std::vector<std::string> series;       // of the groups
  std::vector<Run> runs;                 // by series; those with few series have their sentences
  std::optional<Comparison> comparison;  // in the main metrics; points at the runs
  std::vector<LengthTable> tables;
};

// series: the order of the groups. The baseline is the group that `compare` takes; ordered: that of
// the groups in this order. What is left out, and why, is added to left_out.
Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               bool ordered,
               const PairedTestOptions& draws,
               std::vector<LeftOut>& left_out);

}  // namespace softalign
