#include "framework/analysis/statistics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/eval/text_metrics.hpp"
#include "tests/eval/made_counts.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

using Json = nlohmann::json;

// Texts that sacreBLEU tested, and what it found; freeze_significance.py made the file.
const Json& frozen() {
  static const Json json = [] {
    std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/analysis/significance_cases.json");
    return Json::parse(file);
  }();
  return json;
}

const std::vector<std::string> kSystems = {"baseline", "near", "other", "better"};

SystemResults results_of(const CountTable& counts) {
  return {{{&counts.layout(), rows_of(counts)}}};
}

// A system's outputs with their sufficient statistics.
struct System {
  CountTable counts;

  explicit System(const std::string& name) {
    const Json& texts = frozen().at("texts");
    std::vector<MadeCounts> sentences;
    for (std::size_t i = 0; i < texts.at(name).size(); ++i) {
      const std::string hypothesis = texts[name][i], reference = texts["references"][i];
      const BleuStats bleu = bleu_stats(words_of(hypothesis), words_of(reference));
      const ChrfStats chrf = chrf_stats(hypothesis, reference);
      sentences.push_back({{"exact", {hypothesis == reference ? 1.0 : 0.0}},
                           {"bleu_stats", {bleu.begin(), bleu.end()}},
                           {"chrf_stats", {chrf.begin(), chrf.end()}}});
    }
    counts = made_counts(sentences);
  }
  SystemResults results() const { return results_of(counts); }
};

const System& system_named(const std::string& name) {
  static const std::map<std::string, System> all = [] {
    std::map<std::string, System> systems;
    for (const std::string& n : kSystems) systems.emplace(n, n);
    return systems;
  }();
  return all.at(name);
}

PairedTest test_of(const std::string& metric,
                   const std::string& baseline,
                   const std::string& system,
                   const PairedTestOptions& options = {}) {
  const auto plugin = metric_named(metric);
  return paired_tests({plugin.get()},
                      system_named(baseline).results(),
                      system_named(system).results(),
                      options)
      .front();
}

// The standard error of the difference between two estimates of one probability p.
double error_of(double p, double ours, double theirs) {
  return std::sqrt(p * (1 - p) * (1 / ours + 1 / theirs));
}

struct Case {
  std::string metric;
  std::size_t system;  // of kSystems
};
const std::vector<Case> kCases = {
    {"bleu", 1}, {"bleu", 2}, {"bleu", 3}, {"chrf", 1}, {"chrf", 2}, {"chrf", 3}};

}  // namespace

BOOST_AUTO_TEST_SUITE(significance)

BOOST_AUTO_TEST_CASE(scores_are_those_of_sacrebleu_to_all_digits) {
  for (const char* name : {"bleu", "chrf"})
    for (std::size_t s = 0; s < kSystems.size(); ++s) {
      const double ours = score(*metric_named(name), system_named(kSystems[s]).results());
      const double theirs = frozen()["ar_default"][name][s]["score"];
      BOOST_TEST(std::abs(ours - theirs) < 1e-12 * theirs, name << " of " << kSystems[s]);
    }
}

// The random streams differ, so p-values agree within the error of both Monte-Carlo estimates: four
// standard errors of their difference, which chance exceeds once in 16,000 comparisons. Ours does
// not change from run to run. The expected values are of many more draws than ours.
BOOST_AUTO_TEST_CASE(p_values_are_those_of_sacrebleu) {
  std::size_t between = 0;
  for (const Case& c : kCases) {
    const PairedTest ours = test_of(c.metric, "baseline", kSystems[c.system]);
    for (const char* kind : {"ar", "bs"}) {
      const bool randomisation = kind == std::string("ar");
      const double p = randomisation ? ours.p_randomisation : ours.p_sacrebleu;
      const auto draws = static_cast<double>(randomisation ? kTrials : kResamples);
      for (const char* count : {"default", "many"}) {
        const Json& theirs = frozen()[fmt::format("{}_{}", kind, count)];
        const double expected = theirs[c.metric][c.system]["p"];
        const double n = theirs["draws"];
        if (expected < 0.001) {  // no draw was as extreme, here or there
          BOOST_TEST(p == 1 / (draws + 1));
          BOOST_TEST(expected < 1 / n);
          continue;
        }
        ++between;
        BOOST_TEST(std::abs(p - expected) < 4 * error_of(expected, draws, n),
                   c.metric << " of " << kSystems[c.system] << ", " << kind << "_" << count << ": "
                            << p << " and " << expected);
      }
    }
  }
  BOOST_TEST(between == 16u);
}

// The mean of n resamples has the standard error sd / sqrt(n), and sd is about half of ci / 0.98. A
// percentile has more: the ci's own standard error is about sd * 1.9 / sqrt(n) (each end 2.67 sd,
// both nearly independent, halved). Four standard errors again, of both sides.
BOOST_AUTO_TEST_CASE(intervals_are_those_of_sacrebleu) {
  for (const Case& c : kCases) {
    const PairedTest ours = test_of(c.metric, "baseline", kSystems[c.system]);
    for (const char* count : {"default", "many"}) {
      const Json& theirs = frozen()[fmt::format("bs_{}", count)];
      const double n = theirs["draws"];
      for (const auto& [interval, expected] : {std::pair{ours.system, theirs[c.metric][c.system]},
                                               std::pair{ours.baseline, theirs[c.metric][0]}}) {
        const double ci = expected["ci"];
        const double error = ci / 1.96 * std::sqrt(1.0 / kResamples + 1 / n);
        BOOST_TEST(std::abs(interval.mean - expected["mean"].get<double>()) < 4 * error);
        BOOST_TEST(std::abs(interval.half_width - ci) < 4 * 1.9 * error);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sides_may_be_exchanged) {
  const PairedTest there = test_of("bleu", "baseline", "near"),
                   back = test_of("bleu", "near", "baseline");
  BOOST_TEST(there.difference > 0);
  BOOST_TEST(there.difference == -back.difference);
  BOOST_TEST(there.p_randomisation == back.p_randomisation);
  BOOST_TEST(there.p_bootstrap == back.p_bootstrap);
  BOOST_TEST(there.system.mean == back.baseline.mean);
  BOOST_TEST(there.of_difference.half_width == back.of_difference.half_width);
}

BOOST_AUTO_TEST_CASE(threads_change_no_bit) {
  const PairedTest one = test_of("chrf", "baseline", "other", {.trials = 350, .resamples = 150});
  const PairedTest three =
      test_of("chrf", "baseline", "other", {.trials = 350, .resamples = 150, .threads = 3});
  BOOST_TEST(one.p_randomisation == three.p_randomisation);
  BOOST_TEST(one.p_bootstrap == three.p_bootstrap);
  BOOST_TEST(one.of_difference.mean == three.of_difference.mean);
}

BOOST_AUTO_TEST_CASE(two_systems_with_the_same_outputs_do_not_differ) {
  const PairedTest test = test_of("bleu", "near", "near", {.trials = 100, .resamples = 100});
  BOOST_TEST(test.difference == 0);
  BOOST_TEST(test.p_randomisation == 1);
  BOOST_TEST(test.p_bootstrap == 1);
}

// Two systems that are alike: what share of tests calls them different at 0.05? The standard error of a share
// of 2,000 is 0.5 %; sacreBLEU's bootstrap calls about twice as many.
BOOST_AUTO_TEST_CASE(the_level_is_held) {
  constexpr Index kSimulations = 2000, kSentences = 100;
  const auto metric = metric_named("exact_match");
  const RandomStream stream(1, "simulation");
  Index randomisation = 0, bootstrap = 0, sacrebleu = 0;
  for (Index k = 0; k < kSimulations; ++k) {
    std::vector<MadeCounts> a, b;
    for (Index i = 0; i < kSentences; ++i) {
      const auto right = [&](Index side) {
        const auto at = static_cast<std::uint64_t>(2 * i + side);
        return stream.uniform(at, static_cast<std::uint64_t>(k)) < 0.5F ? 1.0 : 0.0;
      };
      a.push_back({{"exact", {right(0)}}});
      b.push_back({{"exact", {right(1)}}});
    }
    const CountTable of_a = made_counts(a), of_b = made_counts(b);
    const PairedTest test =
        paired_tests(
            {metric.get()}, results_of(of_a), results_of(of_b), {.trials = 199, .resamples = 199})
            .front();
    randomisation += test.p_randomisation <= 0.05;
    bootstrap += test.p_bootstrap <= 0.05;
    sacrebleu += test.p_sacrebleu <= 0.05;
  }
  const auto share = [&](Index count) {
    return static_cast<double>(count) / static_cast<double>(kSimulations);
  };
  BOOST_TEST_MESSAGE(share(randomisation) << " " << share(bootstrap) << " " << share(sacrebleu));
  BOOST_TEST(share(randomisation) < 0.065);
  BOOST_TEST(share(randomisation) > 0.025);  // ties count as extreme, so it is careful
  BOOST_TEST(share(bootstrap) < 0.065);
  BOOST_TEST(share(bootstrap) > 0.035);
  BOOST_TEST(share(sacrebleu) > 0.09);
}

// 2 sentences: of the 4 ways to exchange them 2 have the full difference, so p = 1/2.
BOOST_AUTO_TEST_CASE(a_difference_that_ties_with_draws_is_no_surprise) {
  const CountTable wrong = made_counts({{{"exact", {0}}}, {{"exact", {0}}}}),
                   right = made_counts({{{"exact", {1}}}, {{"exact", {1}}}});
  const auto metric = metric_named("exact_match");
  const PairedTest test =
      paired_tests({metric.get()}, results_of(wrong), results_of(right)).front();
  BOOST_TEST(test.difference == 100);
  BOOST_TEST(std::abs(test.p_randomisation - 0.5) < 4 * std::sqrt(0.25 / kTrials));
  for (const double value : {test.p_bootstrap, test.p_sacrebleu, test.of_difference.half_width})
    BOOST_TEST(std::isnan(value));  // too few to draw from
}

BOOST_AUTO_TEST_CASE(seeds_are_exchanged_together_and_score_as_their_mean) {
  const auto metric = metric_named("bleu");
  SystemResults a = system_named("baseline").results(), b = system_named("near").results();
  const PairedTest one = paired_tests({metric.get()}, a, b).front();
  const SystemResults first = b;
  a.seeds.push_back(a.seeds[0]);
  b.seeds.push_back(b.seeds[0]);
  const PairedTest twice = paired_tests({metric.get()}, a, b).front();
  BOOST_TEST(one.difference == twice.difference);  // the same system again is no more evidence
  BOOST_TEST(one.p_randomisation == twice.p_randomisation);
  BOOST_TEST(one.p_bootstrap == twice.p_bootstrap);
  const SystemResults better = system_named("better").results();
  b.seeds[1] = better.seeds[0];
  const double mean = (score(*metric, first) + score(*metric, better)) / 2;
  const double difference = paired_tests({metric.get()}, a, b).front().difference;
  BOOST_TEST(std::abs(difference - (mean - score(*metric, a))) < 1e-9);
}

BOOST_AUTO_TEST_CASE(what_is_not_defined_is_not_tested) {
  const PairedTest test =
      test_of("pointing_accuracy", "baseline", "near", {.trials = 10, .resamples = 10});
  for (const double value : {test.difference,
                             test.p_randomisation,
                             test.p_bootstrap,
                             test.system.mean,
                             test.of_difference.half_width})
    BOOST_TEST(std::isnan(value));
}

BOOST_AUTO_TEST_CASE(systems_of_other_sentences_are_refused) {
  const SystemResults all = system_named("near").results();
  SystemResults fewer = all;
  fewer.seeds[0].rows.pop_back();
  SystemResults twice = all;
  twice.seeds.push_back(all.seeds[0]);
  const auto metric = metric_named("bleu");
  BOOST_CHECK_THROW(paired_tests({metric.get()}, all, fewer), Error);
  BOOST_CHECK_THROW(paired_tests({metric.get()}, all, twice), Error);
  BOOST_CHECK_THROW(paired_tests({metric.get()}, {}, {}), Error);
}

BOOST_AUTO_TEST_CASE(p_counts_the_data_as_one_draw) {
  BOOST_TEST(p_value({0, 1, 2, 3}, 2) == 3. / 5);
  BOOST_TEST(p_value({0, 1}, 2) == 1. / 3);
  BOOST_TEST(p_value({3, std::nan(""), 1}, 2) == 2. / 3);
  BOOST_TEST(p_value({}, 2) == 1);
  BOOST_TEST(std::isnan(p_value({1}, std::nan(""))));
}

BOOST_AUTO_TEST_CASE(an_interval_is_half_the_width_between_percentiles) {
  std::vector<double> scores;
  for (int i = 999; i >= 0; --i) scores.push_back(i);
  const Interval interval = interval_of(scores);
  BOOST_TEST(interval.mean == 499.5);
  BOOST_TEST(interval.half_width == (974. - 25.) / 2);
  scores.push_back(std::nan(""));
  BOOST_TEST(interval_of(scores).half_width == interval.half_width);
  BOOST_TEST(std::isnan(interval_of({}).mean));
  BOOST_TEST(interval_of({7}).half_width == 0);
}

// Worked by hand: 4 p-values, times 4, 3, 2 and 1 in rising order, never falling.
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
