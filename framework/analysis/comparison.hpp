// Runs beside each other: those that differ only in the seed are one group, with mean and deviation
// of each metric; and every group against one of them, the baseline, which is never chosen by its
// score. Differences from it vary with seeds and test sentences (statistics.hpp).
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
  MetricFacts facts;         // its signature is that of every value in the column
  std::vector<Seeds> cells;  // [groups] over the runs that define it; count 0: none
  int best = -1;             // the group
};

struct ComparedGroup {
  Difference parameters;         // in which it differs from other groups
  std::vector<const Run*> runs;  // by seed
};

// A group against the baseline in one metric; pairs are runs of the same seed.
struct AgainstBaseline {
  std::size_t group = 0;
  std::size_t column = 0;
  Seeds difference;            // group - baseline, over the pairs
  Estimate estimate;           // of the difference; NaN but for the value where it is not tested
  double p_holm = kUndefined;  // the estimate's p, corrected for the comparisons of the column
  std::string untested;        // why there is no test, if one was possible
};

struct Comparison {
  std::vector<ComparisonColumn> columns;
  std::vector<ComparedGroup> groups;
  LengthRange lengths;
  Index sentences = 0;        // of the first run's test set, of those lengths; 0: not read
  bool same_test_set = true;  // otherwise no value of a test is the best
  std::size_t baseline = 0;   // by default the only group without attention, else the first
  std::vector<AgainstBaseline> against;  // by column, then group; empty: not tested
};

// Groups come in the order in which their runs were given, those of one folder by their parameters;
// `runs` must outlive the result. Nothing is tested yet: see against_baseline(). Throws SpecError
// for a metric that no run has, and for runs whose values in one column have different signatures.
Comparison compare(const std::vector<Run>& runs,
                   const std::vector<MetricName>& metrics,
                   const LengthRange& lengths = {});

// The metrics that their tests have and a first look needs, in order.
std::vector<MetricName> main_metrics(const std::vector<Run>& runs);

// The importance of the parameters in which groups differ, over the runs that define a column.
std::optional<Importance> importance_of(const Comparison& comparison,
                                        const ComparisonColumn& column);

// A run's value, or that of a series; NaN when it has none.
double value_of(const Run& run, const MetricName& name, const LengthRange& lengths);
double value_of(const SeriesColumns& series, const MetricName& name);

// A comparison as JSON: the groups with their metrics; behind it, where there are tests, every group against
// the baseline.

JsonObject comparison_json(const Comparison& comparison,
                           const std::vector<LeftOut>& left_out,
                           const BootstrapOptions& draws);

// The group that `given` names: its number from 1, its parameters ("score=dot units=8"), the value of one
// ("none"), or the beginning of a run's ID or name. Throws SpecError unless exactly one matches.
std::size_t group_named(const std::vector<ComparedGroup>& groups, const std::string& given);

// The runs that have a run of the same seed on the other side.
std::set<const Run*> paired_runs(const Comparison& comparison);

// Tests every group but comparison.baseline in every column that both have. A single pair of runs has neither
// interval nor p: they would be taken for the models', and are of two trained ones.
std::vector<AgainstBaseline> against_baseline(const Comparison& comparison,
                                              const BootstrapOptions& draws = {});

}  // namespace softalign
