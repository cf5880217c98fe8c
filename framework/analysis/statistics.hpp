// How far a number can be trusted: means over seeds, intervals over test sentences, paired tests. Two kinds of
// variance, never added: that of training, over the seeds (Seeds), and that of the test sentences, the trained
// models fixed (PairedTest).
#pragma once

#include <string_view>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

struct Seeds {
  double mean = 0;       // NaN of none
  double deviation = 0;  // of the sample (n - 1); 0 for one seed
  Index count = 0;
};
Seeds over_seeds(const std::vector<double>& values);

// The index of the one best value; -1 when two are best, or none is a number.
int best_of(const std::vector<double>& values, bool higher_is_better);

// Is a difference between two systems on one test set more than the luck of its sentences? Paired
// approximate randomisation and the paired bootstrap, for any metric (Riezler & Maxwell 2005; Koehn
// 2004).
//
// Three things differ from sacreBLEU 2. The bootstrap centres differences at their mean and then takes
// their sizes; sacreBLEU takes sizes first, and so calls 11 % of no differences significant at 0.05 (the
// test simulates it). A draw that is exactly as extreme as what was seen counts as extreme, so two
// systems with the same outputs have p = 1 (sacreBLEU: the smallest p there is). A system trained with
// several seeds is scored by the mean of its seeds, on the same draw for all.

inline constexpr Index kTrials = 10'000;   // of randomisation
inline constexpr Index kResamples = 1000;  // of the bootstrap
// Fewer sentences have fewer than 100,000 different resamples, and of one all are alike: the bootstrap says nothing.
inline constexpr Index kFewestSentences = 10;

// Test sets drawn anew with replacement: the one bootstrap of the project. Draws are functions of
// name and number, so whoever draws under one name has the same sentences, on any machine.
class Bootstrap {
 public:
  Bootstrap(std::string_view name, Index sentences);
  std::vector<Index> draw(Index k) const;  // [sentences] indices; k counts from 1

 private:
  RandomStream stream_;
  Index sentences_;
};

// A system's counts on a test set: for each of its seeds the same sentences, in one order.
struct SystemResults {
  struct Seed {
    const CountLayout* layout;  // its own: runs may have measured different metrics
    CountRows rows;
  };
  std::vector<Seed> seeds;
};

// The mean over the seeds; NaN where a seed does not define the metric.
double score(const Metric& metric, const SystemResults& system);

// The mean of scores over resamples, and half the width from percentile 2.5 to 97.5, which is what sacreBLEU
// prints behind "±".
struct Interval {
  double mean = 0;
  double half_width = 0;
};
// NaN for no scores; scores that are NaN are skipped.
Interval interval_of(const std::vector<double>& scores);

struct Range {
  double low = 0;
  double high = 0;
};
// The percentiles 2.5 and 97.5 of scores over resamples; NaN for no scores. None of them is NaN.
Range range_of(const std::vector<double>& scores);
// The percentiles 2.5 and 97.5 of a system's scores over test sets drawn anew, on the draws of
// paired_tests; NaN where most draws do not define the metric.
Range percentile_interval(const Metric& metric, const SystemResults& system, Index resamples);

struct PairedTest {
  double difference = 0;  // system - baseline, on the test set as it is
  Interval baseline;      // over the resamples
  Interval system;
  Interval of_difference;      // of system - baseline on each resample
  double p_randomisation = 0;  // two-sided, (c + 1) / (n + 1)
  double p_bootstrap = 0;      // as above, of |difference - mean of the differences|
  double p_sacrebleu = 0;      // its bootstrap: of |difference| - mean of |differences|
};

struct PairedTestOptions {
  Index trials = kTrials;
  Index resamples = kResamples;
  int threads = 1;  // change no bit
};

// One test for each metric, all on the same draws; NaN throughout for a metric that the sentences
// do not define, and for the bootstrap of fewer than kFewestSentences. Throws BugError when the two are
// not over as many seeds and sentences.
std::vector<PairedTest> paired_tests(const std::vector<const Metric*>& metrics,
                                     const SystemResults& baseline,
                                     const SystemResults& system,
                                     const PairedTestOptions& options = {});

// The share of draws at least as extreme as `seen`, the data themselves counted as one more draw;
// NaN draws are left out, and p is NaN when `seen` is.
double p_value(const std::vector<double>& draws, double seen);
// The bootstrap's p of a difference: p_value of the sizes of differences - their mean.
double p_bootstrap(const std::vector<double>& differences, double seen);

// p-values corrected for being several (Holm 1979): the chance of one false alarm among them is at
// most the level. NaN stays and counts for nothing.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace softalign
