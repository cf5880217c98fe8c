// Standard errors, intervals and tests. A result varies with the training seeds and with the test sentences; its
// standard error accounts for both:
//
//   error^2 = (variance over the S seeds) / S  +  (variance over resampled test sets, with fixed models)
//
// The first term is the sample variance of the seeds' values, the second comes from a bootstrap. The model has
// crossed random effects of seeds and sentences; their interaction is in both terms, which is conservative. The
// half-width of an interval follows Howe (1974): the root of the sum of the squared half-widths that each term alone
// gives by Student's t, with S - 1 and units - 1 degrees of freedom. p is the level whose interval ends at 0. The
// test holds its level for any ratio of the two terms (tests/analysis/significance_test.cpp simulates some). Two
// alternatives do not, with three seeds at 0.05: Satterthwaite's degrees of freedom for the sum have 8 % false alarms
// if the seeds' term is ten times the other, since seeds that happen to lie close together get many degrees of
// freedom; and a bootstrap of seeds, then sentences, has 29 %.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

struct Seeds {
  double mean = 0;       // NaN without seeds
  double deviation = 0;  // sample standard deviation (n - 1); 0 for one seed
  Index count = 0;
};
Seeds over_seeds(const std::vector<double>& values);

// Returns the index of the single best value; -1 if two values tie for best, or none is a finite number.
int best_of(const std::vector<double>& values, bool higher_is_better);

inline constexpr Index kResamples = 1000;  // of the bootstrap
// Fewer independent sentences have fewer than 100,000 different resamples, so their bootstrap is not informative.
inline constexpr Index kFewestSentences = 10;
inline constexpr double kLevel = 0.05;  // of tests; intervals have coverage 1 - kLevel

struct BootstrapOptions {
  Index resamples = kResamples;
  int threads = 1;  // does not change the results
};

// Test sets drawn with replacement: the only bootstrap of the project. A draw is a function of
// the hash of the test set and a number, so comparisons and claims see the same draws on any machine.
class Bootstrap {
 public:
  // Sentences of one cluster, [sentences], are drawn together because they are not independent of each other.
  // Empty: each sentence is a cluster.
  Bootstrap(const std::string& test_set, Index sentences, std::span<const Index> clusters = {});

  // Returns the sentence indices of `units` drawn clusters; k counts from 1.
  std::vector<Index> draw(Index k) const;

 private:
  RandomStream stream_;
  Index units_;
  std::vector<std::vector<Index>> clusters_;  // empty: each sentence is a cluster
};

struct Range {
  double low = kUndefined;
  double high = kUndefined;
};

// A number that varies with seeds and sentences. Unknown members are NaN.
struct Estimate {
  double value = kUndefined;  // the mean over the seeds
  double error = kUndefined;  // its standard error
  Range interval = {};        // 95 %
  double p = kUndefined;      // two-sided, for the value being 0; NaN for one seed

  template <class V>
  void describe(V& v) {
    v("value", value);
    v("standard_error", error);
    v("low", interval.low);
    v("high", interval.high);
    v("p", p);
  }
};

// seeds: the value of each seed; resampled: their mean on each test set that was drawn from `units` clusters. Without
// draws, or if at least half of them are undefined, only the value is known. units 0: the number does not depend on
// test sentences, and only the seeds count. With one seed, the interval is that of this one model, without a p-value.
Estimate estimate(const std::vector<double>& seeds,
                  const std::vector<double>& resampled,
                  Index units);

// A system's counts on a test set, with the same sentences in the same order for each seed.
struct SystemResults {
  struct Seed {
    const CountLayout* layout;  // one per seed: runs may have measured different metrics
    CountRows rows;             // of all sentences
  };
  std::vector<Seed> seeds;
  std::string test_set = {};         // its hash
  std::vector<Index> clusters = {};  // [sentences]; empty: each sentence is a cluster
  // [sentences], those outside a range of lengths: drawn, but not counted. Empty: all are counted.
  std::vector<bool> skipped = {};
};

Estimate score_estimate(const Metric& metric,
                        const SystemResults& system,
                        const BootstrapOptions& options = {});

// Returns system - baseline for each metric, paired by seed and by sentence, all on the same draws. Throws BugError
// if the numbers of seeds, or the sentences or their clusters, differ.
std::vector<Estimate> differences(const std::vector<const Metric*>& metrics,
                                  const SystemResults& baseline,
                                  const SystemResults& system,
                                  const BootstrapOptions& options = {});

// Returns p-values corrected for multiple tests (Holm 1979): the chance of any false alarm is at
// most the level. NaN stays NaN and is not counted as a test.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace softalign
