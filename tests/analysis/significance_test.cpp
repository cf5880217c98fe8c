#include "framework/analysis/statistics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "tests/eval/made_counts.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

// A system trained with several seeds. right[seed][sentence] is 1 for a correct sentence and 0 otherwise.
class System {
 public:
  explicit System(const std::vector<std::vector<double>>& right) {
    for (const std::vector<double>& seed : right) {
      std::vector<MadeCounts> sentences;
      for (const double one : seed) sentences.push_back({{"exact", {one}}});
      counts_.push_back(made_counts(sentences));
    }
  }
  SystemResults results() const {
    SystemResults results;
    for (const CountTable& counts : counts_)
      results.seeds.push_back({&counts.layout(), rows_of(counts)});
    return results;
  }

 private:
  std::vector<CountTable> counts_;
};

const Metric& exact_match() {
  static const auto metric = metric_named("exact_match");
  return *metric;
}

Estimate difference_of(const SystemResults& baseline,
                       const SystemResults& system,
                       const BootstrapOptions& options = {}) {
  return differences({&exact_match()}, baseline, system, options).front();
}

// Standard normal numbers (Box and Muller 1958).
class Normal {
 public:
  explicit Normal(std::string_view name) : stream_(1, name) {}
  double operator()() {
    const auto uniform = [&] { return (static_cast<double>(stream_.uniform(next_++)) + 1e-9); };
    const double size = std::sqrt(-2 * std::log(uniform()));
    return size * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

// Standard deviations of single results: between seeds, between sentences, and of the interaction of sentence and seed.
struct Variation {
  const char* name;
  double seed, sentence, both;
};

// The shares of simulated studies whose difference is significant: at kLevel, and as the first of fifteen by Holm.
struct Significant {
  double alone, of_fifteen;
};

// Results are normal. The mean over a resampled test set is a mean over kSentences independent results, so the
// bootstrap is drawn from that distribution.
Significant share_significant(Index seeds, const Variation& varies, double difference) {
  const Index studies = difference == 0 ? 2000 : 400;
  constexpr Index kSentences = 200, kDraws = 200;
  constexpr double n = kSentences;
  Normal normal(fmt::format("{} {} {}", varies.name, seeds, difference));
  Index alone = 0, of_fifteen = 0;
  for (Index study = 0; study < studies; ++study) {
    const double shift = difference + varies.sentence / std::sqrt(n) * normal();
    std::vector<double> values, drawn;
    for (Index s = 0; s < seeds; ++s)
      values.push_back(shift + varies.seed * normal() + varies.both / std::sqrt(n) * normal());
    const double mean = over_seeds(values).mean;
    const double of_sentences =
        std::hypot(varies.sentence, varies.both / std::sqrt(static_cast<double>(seeds)));
    for (Index k = 0; k < kDraws; ++k)
      drawn.push_back(mean + of_sentences / std::sqrt(n) * normal());
    const double p = estimate(values, drawn, kSentences).p;
    alone += p < kLevel ? 1 : 0;
    of_fifteen += p < kLevel / 15 ? 1 : 0;
  }
  const auto all = static_cast<double>(studies);
  return {static_cast<double>(alone) / all, static_cast<double>(of_fifteen) / all};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(significance)

// error^2 = 1/3 + 25/99; half^2 = t(2)^2 / 3 + t(99)^2 * 25/99; quantiles of scipy.stats.t, p by scipy.optimize.brentq.
BOOST_AUTO_TEST_CASE(an_estimate_by_hand) {
  std::vector<double> drawn;
  for (int i = 0; i < 100; ++i) drawn.push_back(i % 2 == 0 ? 2.5 : 1.5);  // variance 25 / 99
  const Estimate found = estimate({1, 2, 3}, drawn, 100);
  const double variance = 1.0 / 3 + 25.0 / 99;
  BOOST_TEST(found.value == 2);
  const auto near = boost::test_tools::tolerance(1e-7);
  BOOST_TEST(found.error == std::sqrt(variance), near);
  BOOST_TEST(found.interval.low == -0.6767819509819093, near);
  BOOST_TEST(found.interval.high == 4.676781950981909, near);
  BOOST_TEST(found.p == 0.08895827057251392, near);
}

// Without variation over sentences the estimate is Student's t-test over the seeds: quantile 4.302653 at 2 degrees of
// freedom.
BOOST_AUTO_TEST_CASE(seeds_alone_are_a_t_test) {
  const Estimate found = estimate({1, 2, 3}, {}, 0);
  BOOST_TEST(found.interval.high - 2 == 4.302652729696142 / std::sqrt(3.0),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(found.p == 0.07417990022744862, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_not_estimated) {
  const Estimate one = estimate({2}, {1, 3, 2, 2}, 50);
  BOOST_TEST(one.interval.low < 2);
  BOOST_TEST(std::isnan(one.p));  // one seed gives no p-value
  for (const Estimate& none : {estimate({2}, {}, 0),
                               estimate({2, 3}, {}, 5),
                               estimate({2, 3}, {kUndefined, kUndefined, 1}, 50),
                               estimate({kUndefined, 3}, {1, 2, 3}, 50)})
    for (const double number : {none.error, none.interval.low, none.interval.high, none.p})
      BOOST_TEST(std::isnan(number));
  BOOST_TEST(
      std::isnan(estimate({1e300, -1e300, 1}, {1, 2, 3}, 50).error));  // its square overflows
  BOOST_TEST(estimate({1e150, 2e150, 4e150}, {1, 2, 3}, 50).p == estimate({1, 2, 4}, {}, 0).p,
             boost::test_tools::tolerance(1e-9));
  const Estimate constant = estimate({5, 5}, {5, 5, 5}, 50);
  BOOST_TEST(constant.error == 0);
  BOOST_TEST(constant.p == 0);
  BOOST_TEST(estimate({0, 0}, {0, 0, 0}, 50).p == 1);
}

// Whatever varies, at most 6 % of differences are false alarms, and at most 0.6 % after correction for fifteen claims
// (0.33 % are allowed; the margin is for the error of 2,000 simulated studies). The power is printed.
BOOST_AUTO_TEST_CASE(the_level_is_held) {
  const Variation all[] = {{"seeds", 1, 0.01, 0.01},
                           {"sentences", 0, 1, 0.01},
                           {"sentences in seeds", 0, 0, 1},
                           {"sentences, also in seeds", 0, 1, 1},
                           {"all alike", 0.1, 1, 1},
                           {"seeds more", 0.25, 1, 0.01},
                           {"seeds much more", 0.5, 1, 0.01}};
  for (const Index seeds : {2, 3, 5})
    for (const Variation& varies : all) {
      const auto n = static_cast<double>(seeds);
      const double error =
          std::sqrt(varies.seed * varies.seed / n + varies.sentence * varies.sentence / 200 +
                    varies.both * varies.both / 200 / n);
      const Significant alarms = share_significant(seeds, varies, 0);
      BOOST_TEST_MESSAGE(fmt::format(
          "{} seeds, {:24} vary: {:4.1f} % false alarms; power at 2, 4, 8 standard errors {:.0f}, "
          "{:.0f}, {:.0f} %",
          seeds,
          varies.name,
          100 * alarms.alone,
          100 * share_significant(seeds, varies, 2 * error).alone,
          100 * share_significant(seeds, varies, 4 * error).alone,
          100 * share_significant(seeds, varies, 8 * error).alone));
      BOOST_TEST(alarms.alone <= 0.06,
                 varies.name << " with " << seeds << " seeds: " << alarms.alone);
      BOOST_TEST(alarms.of_fifteen <= 0.006,
                 varies.name << " with " << seeds << " seeds, corrected: " << alarms.of_fifteen);
    }
}

// The obvious alternative: a bootstrap that resamples seeds with replacement.
BOOST_AUTO_TEST_CASE(a_bootstrap_of_few_seeds_does_not_hold_its_level) {
  for (const auto& [seeds, least] : {std::pair{3, 0.25}, {5, 0.14}}) {
    Normal normal("bootstrap of seeds");
    const RandomStream stream(1, "draws of seeds");
    constexpr std::uint64_t kStudies = 1000, kDraws = 400;
    Index alarms = 0;
    for (std::uint64_t study = 0; study < kStudies; ++study) {
      std::vector<double> values, means;
      for (int s = 0; s < seeds; ++s) values.push_back(normal());
      for (std::uint64_t k = 0; k < kDraws; ++k) {
        double sum = 0;
        for (int s = 0; s < seeds; ++s)
          sum += values[stream.below(
              static_cast<std::uint32_t>(seeds), k * 8 + static_cast<std::uint64_t>(s), study)];
        means.push_back(sum / seeds);
      }
      std::ranges::sort(means);
      alarms += means[kDraws / 40] > 0 || means[kDraws - 1 - kDraws / 40] < 0 ? 1 : 0;
    }
    BOOST_TEST(static_cast<double>(alarms) / kStudies > least);
  }
}

namespace {

// A system with two seeds, each of whose sentences is correct with probability `rate`.
System made_system(std::string_view name, Index sentences, float rate) {
  const RandomStream stream(1, name);
  std::vector<std::vector<double>> right(2);
  for (std::size_t s = 0; s < 2; ++s)
    for (Index i = 0; i < sentences; ++i)
      right[s].push_back(stream.uniform(static_cast<std::uint64_t>(i), s) < rate ? 1 : 0);
  return System(right);
}

}  // namespace

BOOST_AUTO_TEST_CASE(sides_may_be_exchanged_and_threads_change_no_bit) {
  const System a = made_system("a", 200, 0.4F), b = made_system("b", 200, 0.6F);
  const Estimate there = difference_of(a.results(), b.results()),
                 back = difference_of(b.results(), a.results()),
                 threads = difference_of(a.results(), b.results(), {.threads = 3});
  BOOST_TEST(there.value > 0);
  BOOST_TEST(there.value == -back.value);
  BOOST_TEST(there.p == back.p, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(there.error == threads.error);
  BOOST_TEST(there.p == threads.p);
  const Estimate none = difference_of(a.results(), a.results());
  BOOST_TEST(none.value == 0);
  BOOST_TEST(none.p == 1);
}

// The bootstrap's standard error of a mean equals that of the sample, sqrt(p (1 - p) / n).
BOOST_AUTO_TEST_CASE(of_one_seed_the_sentences_decide) {
  const System system = made_system("a", 400, 0.5F);
  SystemResults one = system.results();
  one.seeds.pop_back();
  const Estimate found = score_estimate(exact_match(), one);
  const double p = found.value / 100, error = 100 * std::sqrt(p * (1 - p) / 400);
  BOOST_TEST(std::abs(found.error / error - 1) < 4 / std::sqrt(2.0 * kResamples));
  BOOST_TEST(std::isnan(found.p));
}

// Duplicate sentences add no evidence.
BOOST_AUTO_TEST_CASE(sentences_of_a_cluster_are_drawn_together) {
  const System once = made_system("a", 300, 0.5F);
  SystemResults all = once.results(), twice = all;
  std::vector<Index> clusters;
  for (Index i = 0; i < 600; ++i) clusters.push_back(i % 300);
  for (SystemResults* results : {&all, &twice}) results->seeds.pop_back();
  const CountRows rows = twice.seeds[0].rows;
  twice.seeds[0].rows.insert(twice.seeds[0].rows.end(), rows.begin(), rows.end());
  const double alone = score_estimate(exact_match(), all).error;
  const double apart = score_estimate(exact_match(), twice).error;
  twice.clusters = clusters;
  const double together = score_estimate(exact_match(), twice).error;
  const double tolerance = 6 / std::sqrt(2.0 * kResamples);  // for a ratio of two bootstraps
  BOOST_TEST(std::abs(together / alone - 1) < tolerance);
  BOOST_TEST(std::abs(apart / alone * std::sqrt(2.0) - 1) < tolerance);
}

BOOST_AUTO_TEST_CASE(too_few_sentences_are_not_drawn_from) {
  const System system = made_system("a", kFewestSentences - 1, 0.5F);
  const Estimate found = score_estimate(exact_match(), system.results());
  BOOST_TEST(!std::isnan(found.value));
  BOOST_TEST(std::isnan(found.error));
}

BOOST_AUTO_TEST_CASE(systems_of_other_sentences_are_refused) {
  const System system = made_system("a", 20, 0.5F);
  const SystemResults all = system.results();
  SystemResults fewer = all, once = all, clustered = all;
  fewer.seeds[0].rows.pop_back();
  once.seeds.pop_back();
  clustered.clusters.assign(20, 0);
  for (const SystemResults& other : {fewer, once, clustered, SystemResults{}})
    BOOST_CHECK_THROW(difference_of(all, other), Error);
  BOOST_CHECK_THROW(difference_of({}, {}), Error);
}

// Worked by hand: 4 p-values in rising order are multiplied by 4, 3, 2 and 1 and made monotone.
BOOST_AUTO_TEST_CASE(holm_by_hand) {
  const auto corrected = holm({0.04, 0.01, std::nan(""), 0.03, 0.015});
  const std::vector<double> expected = {0.06, 0.04, 0, 0.06, 0.045};
  for (const std::size_t i : {0u, 1u, 3u, 4u})
    BOOST_TEST(corrected[i] == expected[i], boost::test_tools::tolerance(1e-12));
  BOOST_TEST(std::isnan(corrected[2]));
  BOOST_TEST(holm({0.7, 0.6})[0] == 1);
  BOOST_TEST(holm({0.2})[0] == 0.2);
  BOOST_TEST(holm({}).empty());
}

BOOST_AUTO_TEST_CASE(corrected_p_values_keep_the_order_and_are_never_smaller) {
  const RandomStream stream(7, "p");
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<double> p;
    for (std::uint64_t i = 0; i < 1 + round % 9; ++i) p.push_back(stream.uniform(i, round) / 3);
    const auto corrected = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      BOOST_TEST(corrected[i] >= p[i]);
      BOOST_TEST(corrected[i] <= std::min(1.0, p[i] * static_cast<double>(p.size())));
      for (std::size_t j = 0; j < p.size(); ++j)
        if (p[i] < p[j]) BOOST_TEST(corrected[i] <= corrected[j]);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bootstrap_draws_with_replacement_and_anew_each_time) {
  const Bootstrap bootstrap("b", 1000);
  const std::vector<Index> first = bootstrap.draw(1);
  BOOST_TEST(first.size() == 1000u);
  BOOST_TEST(first == Bootstrap("b", 1000).draw(1), boost::test_tools::per_element());
  BOOST_TEST((first != bootstrap.draw(2)));
  BOOST_TEST((first != Bootstrap("c", 1000).draw(1)));
  std::vector<Index> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  const auto different = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  BOOST_TEST(std::abs(static_cast<double>(different) - 632) < 60);  // 1 - 1/e of them
  BOOST_TEST((sorted.front() >= 0 && first[0] < 1000));
}

BOOST_AUTO_TEST_SUITE_END()
