// Metrics by source length, of groups of runs that differ in nothing but the seed. Two kinds of
// variance, never added: over the seeds, and over the choice of test sentences.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/comparison.hpp"

namespace softalign {

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

}  // namespace softalign
