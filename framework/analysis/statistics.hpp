// How far a number can be trusted. A result varies with the seeds of training and with the test sentences; its
// standard error has both:
//
//   error^2 = (variance over the S seeds) / S  +  (variance over test sets drawn anew, the models fixed)
//
// The first is of the values that the seeds give, the second a bootstrap's. It is the crossed random effects of seeds
// and sentences; what a seed does to single sentences is in both terms, which errs on the safe side. Half the width of an
// interval is that of Howe (1974): the root of the sum of the squares of what either term alone would give by Student's
// t, with S - 1 and with units - 1 degrees of freedom. p is the level whose interval ends at 0. This holds its level
// for any ratio of the two terms (tests/analysis/significance_test.cpp simulates some). Two things that do not, with
// three seeds at 0.05: Satterthwaite's degrees of freedom for the sum, with 8 % false alarms where the seeds' term is
// ten times the other, since seeds that happen to lie close together get many; and a bootstrap of seeds, then
// sentences, with 29 %.
#pragma once

#include <span>
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

inline constexpr Index kResamples = 1000;  // of the bootstrap
// Fewer independent sentences have fewer than 100,000 different resamples: their bootstrap says nothing.
inline constexpr Index kFewestSentences = 10;
inline constexpr double kLevel = 0.05;  // of tests; intervals are of 1 - kLevel

struct BootstrapOptions {
  Index resamples = kResamples;
  int threads = 1;  // change no bit
};

// Test sets drawn with replacement: the only bootstrap of the project. Draws are functions of
// name and number, so equal names give the same sentences on any machine.
class Bootstrap {
 public:
  // Sentences of one cluster, [sentences], are drawn together: they are not independent of each other. Empty:
  // each is a cluster.
  Bootstrap(std::string_view name, Index sentences, std::span<const Index> clusters = {});

  Index units() const { return units_; }  // clusters
  std::vector<Index> draw(
      Index k) const;  // indices of sentences, of `units` clusters; k counts from 1

 private:
  RandomStream stream_;
  Index units_;
  std::vector<std::vector<Index>> clusters_;  // empty: each sentence is one
};

struct Range {
  double low = kUndefined;
  double high = kUndefined;
};

// A number that varies with seeds and sentences. NaN where it is not known.
struct Estimate {
  double value = kUndefined;  // the mean over the seeds
  double error = kUndefined;  // its standard error
  Range interval = {};        // 95 %
  double p = kUndefined;      // two-sided, of the value being 0; NaN for one seed

  template <class V>
  void describe(V& v) {
    v("value", value);
    v("standard_error", error);
    v("low", interval.low);
    v("high", interval.high);
    v("p", p);
  }
};

// seeds: the value of each; resampled: their mean on each of the test sets drawn anew, from `units` clusters. Without
// draws, or with most of them undefined, nothing but the value is known; units 0: the number does not depend on
// test sentences, and the seeds decide. One seed: the interval is of this one model, and there is no p.
Estimate estimate(const std::vector<double>& seeds,
                  const std::vector<double>& resampled,
                  Index units);

// A system's counts on a test set: for each of its seeds the same sentences, in one order.
struct SystemResults {
  struct Seed {
    const CountLayout* layout;  // its own: runs may have measured different metrics
    CountRows rows;
  };
  std::vector<Seed> seeds;
  std::vector<Index> clusters = {};  // [sentences]; empty: each sentence is one
};

// The mean over the seeds; NaN where a seed does not define the metric.
double score(const Metric& metric, const SystemResults& system);

Estimate score_estimate(const Metric& metric,
                        const SystemResults& system,
                        const BootstrapOptions& options = {});

// system - baseline for each metric, paired by seed and by sentence, all on the same draws. Throws BugError
// when the two are not over as many seeds and sentences.
std::vector<Estimate> differences(const std::vector<const Metric*>& metrics,
                                  const SystemResults& baseline,
                                  const SystemResults& system,
                                  const BootstrapOptions& options = {});

// p-values corrected for being several (Holm 1979): the chance of one false alarm among them is at
// most the level. NaN stays and counts for nothing.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace softalign
