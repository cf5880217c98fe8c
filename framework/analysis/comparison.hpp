// Comparison of runs. Runs that differ only in the seed form a group, with mean and standard deviation
// of each metric. Every group is compared with one of them, the baseline, which is never chosen by its
// score. Differences from the baseline vary with seeds and test sentences (statistics.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/analysis/importance.hpp"
#include "framework/analysis/run.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/json.hpp"

namespace softalign {

struct ComparisonColumn {
  MetricName name;
  MetricFacts facts;         // all values in the column have its signature
  std::vector<Seeds> cells;  // [groups] over the runs that define the metric; count 0: no such run
  int best = -1;             // index of the best group
};

struct ComparedGroup {
  Difference parameters;         // the options in which it differs from other groups
  std::vector<const Run*> runs;  // by seed
};

// A group against the baseline in one metric; pairs are runs of the same seed.
struct AgainstBaseline {
  std::size_t group = 0;
  std::size_t column = 0;
  Seeds difference;            // group - baseline, over the pairs
  Estimate estimate;           // of the difference; without a test, all but the value are NaN
  double p_holm = kUndefined;  // the estimate's p, corrected for the comparisons of the column
  std::string untested;        // reason why a metric of the test set has no test
};

struct Comparison {
  std::vector<ComparisonColumn> columns;
  std::vector<ComparedGroup> groups;
  LengthRange lengths;
  Index sentences = 0;        // number with those lengths in the first run's test set; 0: not read
  bool same_test_set = true;  // if false, no test result is marked as the best
  std::size_t baseline = 0;   // by default the first group without attention, else the first
  std::vector<AgainstBaseline> against;  // by column, then group; empty: not tested
};

// Returns the comparison without tests, which against_baseline() adds. Groups are in the order of the
// arguments that named their runs, and by parameters within an argument. `runs` must outlive the result. Throws
// SpecError for a metric that no run has, and for values with different signatures in one column.
Comparison compare(const std::vector<Run>& runs,
                   const std::vector<MetricName>& metrics,
                   const LengthRange& lengths = {});

// Returns the main metrics of the runs' test results, in display order.
std::vector<MetricName> main_metrics(const std::vector<Run>& runs);

// Returns the importance of the parameters in which groups differ, over the runs that define a column.
std::optional<Importance> importance_of(const Comparison& comparison,
                                        const ComparisonColumn& column);

// Return the value of a run or a series; NaN if it has none.
double value_of(const Run& run, const MetricName& name, const LengthRange& lengths);
double value_of(const SeriesColumns& series, const MetricName& name);

// Returns a comparison as JSON: the groups with their metrics, then the tests of groups against the baseline, if any.

JsonObject comparison_json(const Comparison& comparison,
                           const std::vector<LeftOut>& left_out,
                           const BootstrapOptions& draws);

// Returns the group that `given` names: its number from 1, its parameters ("score=dot units=8"), the value of one
// ("none"), the name of a run, or the beginning of a run ID. Throws SpecError unless exactly one matches.
std::size_t group_named(const std::vector<ComparedGroup>& groups, const std::string& given);

// Returns the runs that have a partner of the same seed: baseline runs in some other group, all others in the baseline.
std::set<const Run*> paired_runs(const Comparison& comparison);

// Tests every group except comparison.baseline in every column that both have. A single pair of runs gets neither
// interval nor p: they would be read as a result about the models, but hold only for the two trained ones.
std::vector<AgainstBaseline> against_baseline(const Comparison& comparison,
                                              const BootstrapOptions& draws = {});

}  // namespace softalign
