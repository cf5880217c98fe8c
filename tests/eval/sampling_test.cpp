// Sampling against distributions computed by hand and by enumeration.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>

#include "framework/base/types.hpp"
#include "framework/eval/sampling.hpp"
#include "tests/eval/same_hypotheses.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

namespace {

// Of p = 0.1 (<unk>), 0.3 (<s>, never drawn), 0.2 (</s>), 0.25, 0.15.
std::vector<double> distribution(const SampleSettings& settings, bool may_end = true) {
  std::vector<real> logits;
  for (double p : {0.1, 0.3, 0.2, 0.25, 0.15}) logits.push_back(static_cast<real>(std::log(p)) + 7);
  SampleDistribution distribution(settings);
  distribution.set(logits, may_end);
  std::vector<double> p;
  for (Token token = 0; token < 5; ++token) p.push_back(distribution.probability(token));
  return p;
}

void expect(const std::vector<double>& found, const std::vector<double>& expected) {
  BOOST_REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-6);
}

using Samples = std::vector<std::vector<Hypothesis>>;

// Shares of all draws.
std::vector<std::vector<Token>> sorted_tokens(const std::vector<Hypothesis>& hypotheses) {
  std::vector<std::vector<Token>> all;
  for (const Hypothesis& one : hypotheses) all.insert(all.end(), usize(one.drawn), one.tokens);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampling)

BOOST_AUTO_TEST_CASE(distributions_are_those_worked_out_by_hand) {
  SampleSettings s;
  expect(distribution(s), {0.1 / 0.7, 0, 0.2 / 0.7, 0.25 / 0.7, 0.15 / 0.7});
  expect(distribution(s, false), {0.1 / 0.5, 0, 0, 0.25 / 0.5, 0.15 / 0.5});
  s.temperature = 0.5;  // squares: 0.01, 0.04, 0.0625, 0.0225
  expect(distribution(s), {0.01 / 0.135, 0, 0.04 / 0.135, 0.0625 / 0.135, 0.0225 / 0.135});
  s = {};
  s.top_k = 2;
  expect(distribution(s), {0, 0, 0.2 / 0.45, 0.25 / 0.45, 0});
  s.top_k = 100;
  expect(distribution(s), {0.1 / 0.7, 0, 0.2 / 0.7, 0.25 / 0.7, 0.15 / 0.7});
  s = {};
  s.top_p = 0.4;  // 0.25 / 0.7 = 0.357 is too little, with 0.2 / 0.7 it is 0.643
  expect(distribution(s), {0, 0, 0.2 / 0.45, 0.25 / 0.45, 0});
  s.top_p = 1e-9;
  expect(distribution(s), {0, 0, 0, 1, 0});
  s.top_p = 0.6;  // of the two that top_k keeps: 0.556 and 0.444
  s.top_k = 2;
  expect(distribution(s), {0, 0, 0.2 / 0.45, 0.25 / 0.45, 0});
  s.top_p = 0.55;
  expect(distribution(s), {0, 0, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(a_draw_inverts_the_cumulative_distribution) {
  const SampleSettings settings;
  SampleDistribution distribution(settings);
  const std::vector<real> logits = {
      std::log(real(0.25)), 0, std::log(real(0.25)), std::log(real(0.5))};
  distribution.set(logits, true);
  BOOST_TEST(distribution.draw(0) == 0);
  BOOST_TEST(distribution.draw(0.249) == 0);
  BOOST_TEST(distribution.draw(0.251) == 2);
  BOOST_TEST(distribution.draw(0.499) == 2);
  BOOST_TEST(distribution.draw(0.501) == 3);
  BOOST_TEST(distribution.draw(1 - 1e-12) == 3);
  const std::vector<real> nothing(4, std::nanf(""));
  distribution.set(nothing, true);
  BOOST_TEST(distribution.draw(0.5) != kBegin);
}

// Compares the probability of every output of at most two steps with its frequency.
BOOST_AUTO_TEST_CASE(outputs_are_as_frequent_as_they_are_probable) {
  const SmallModel small;
  constexpr Index kDraws = 20000;
  SampleSettings settings;
  settings.samples = kDraws;
  settings.limits.max_ratio = 0.1;
  settings.limits.max_extra = 2;
  Tape tape(Tape::Mode::infer);
  const Samples found = sample(*small.model, tape, small.one(0, 17), settings);
  Index draws = 0;
  std::map<std::pair<std::vector<Token>, bool>, double> frequency;
  for (const Hypothesis& one : found[0]) {
    draws += one.drawn;
    const double share = static_cast<double>(one.drawn) / kDraws;
    BOOST_TEST((frequency.try_emplace({one.tokens, one.finished}, share).second));  // listed once
  }
  BOOST_TEST(draws == kDraws);

  double total = 0;
  const auto check = [&](const std::vector<Token>& tokens, bool finished, double p) {
    const double sigma = std::sqrt(p * (1 - p) / kDraws);
    BOOST_TEST(std::abs(frequency[{tokens, finished}] - p) <= 5 * sigma + 1e-9);
    total += p;
  };
  const auto drawn = [&](std::span<const Token> prefix) {  // <s> is never drawn
    std::vector<double> p = next_step(small, 0, prefix).p;
    const double all = 1 - p[kBegin];
    p[kBegin] = 0;
    for (double& x : p) x /= all;
    return p;
  };
  const std::vector<double> first = drawn({});
  check({}, true, first[kEnd]);
  for (Token a = 0; a < SmallModel::kSymbols; ++a) {
    if (a == kBegin || a == kEnd) continue;
    const std::vector<double> second = drawn(std::vector<Token>{a});
    const double p = first[usize(a)];
    check({a}, true, p * second[kEnd]);
    for (Token b = 0; b < SmallModel::kSymbols; ++b)
      if (b != kBegin && b != kEnd) check({a, b}, false, p * second[usize(b)]);
  }
  BOOST_TEST(std::abs(total - 1) < 1e-9);
}

// log_probability is the model's own, independent of the distribution that is drawn from.
BOOST_AUTO_TEST_CASE(log_probabilities_are_the_models) {
  const SmallModel small;
  SampleSettings settings;
  settings.samples = 4;
  settings.temperature = 2;
  settings.top_k = 5;
  settings.limits.min_ratio = 0.5;
  Tape tape(Tape::Mode::infer);
  const Samples found = sample(*small.model, tape, small.all(), settings);
  for (Index b = 0; b < 3; ++b) {
    const auto& list = found[usize(b)];
    BOOST_TEST(sorted_tokens(list).size() == 4);
    for (const Hypothesis& one : list) {
      BOOST_TEST(std::ssize(one.tokens) >= small.lengths[usize(b)] / 2);
      double sum = 0;
      for (std::size_t t = 0; t < one.steps(); ++t) {
        const NextStep next = next_step(small, b, std::span(one.tokens).first(t));
        const Token token = t < one.tokens.size() ? one.tokens[t] : kEnd;
        sum += std::log(next.p[usize(token)]);
        for (std::size_t s = 0; s < next.weights.size(); ++s)
          BOOST_TEST(std::abs(static_cast<double>(one.alignment[t * next.weights.size() + s]) -
                              next.weights[s]) < 1e-5);
      }
      BOOST_TEST(std::abs(sum - one.log_probability) < 1e-4);
    }
    BOOST_TEST(std::is_sorted(list.begin(), list.end(), [](const auto& x, const auto& y) {
      return x.finished != y.finished ? x.finished : x.score > y.score;
    }));
  }
}

BOOST_AUTO_TEST_CASE(neither_the_batch_nor_more_samples_change_a_draw) {
  const SmallModel small;
  SampleSettings settings;
  settings.samples = 5;
  settings.top_p = 0.9;
  Tape tape(Tape::Mode::infer);
  SourceBatch batch = small.all();
  const std::vector<Index> numbers = {40, 7, 12};
  batch.examples = numbers;
  const Samples together = sample(*small.model, tape, batch, settings);
  for (std::size_t b = 0; b < 3; ++b) {
    settings.samples = 5;
    const SourceBatch one = small.one(static_cast<Index>(b), numbers[b]);
    const Samples alone = sample(*small.model, tape, one, settings);
    expect_same(alone[0], together[b]);
    settings.samples = 2;
    const auto fewer = sorted_tokens(sample(*small.model, tape, one, settings)[0]);
    const auto more = sorted_tokens(alone[0]);
    BOOST_TEST(std::includes(more.begin(), more.end(), fewer.begin(), fewer.end()));
  }
}

BOOST_AUTO_TEST_CASE(another_seed_or_example_is_another_draw) {
  const SmallModel small;
  SampleSettings settings;
  settings.samples = 20;
  Tape tape(Tape::Mode::infer);
  const auto draw = [&](std::uint64_t seed, Index example) {
    settings.seed = seed;
    return sorted_tokens(sample(*small.model, tape, small.one(0, example), settings)[0]);
  };
  BOOST_TEST((draw(1, 0) == draw(1, 0)));
  BOOST_TEST((draw(1, 0) != draw(2, 0)));
  BOOST_TEST((draw(1, 0) != draw(1, 1)));
}

BOOST_AUTO_TEST_CASE(the_plugin_draws_by_the_runs_seed_or_its_own) {
  const SmallModel small;
  Tape tape(Tape::Mode::infer);
  const auto draw = [&](std::uint64_t run, std::optional<std::uint64_t> own) {
    SampleSettings settings;
    settings.seed = own.value_or(run);
    return sample(*small.model, tape, small.all(), settings)[0][0].log_probability;
  };
  const auto search = make_plugin<SearchKind>(
      Choice{.kind = "search", .type = "sample"}, std::uint64_t{3}, Index{0});
  BOOST_TEST(search->run(*small.model, tape, small.all())[0][0].log_probability == draw(3, {}));
  BOOST_TEST(search->most() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
