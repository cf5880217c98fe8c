// Ensembles and forced decoding against probabilities read one model, sentence and prefix at a time.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/eval/beam.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "tests/eval/same_hypotheses.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

namespace {

constexpr double kNear = 1e-5;

std::vector<double> mean_of(const std::vector<double>& a,
                            const std::vector<double>& b,
                            Scorer::Mean mean) {
  std::vector<double> result;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += result.emplace_back(mean == Scorer::Mean::probabilities ? (a[i] + b[i]) / 2
                                                                   : std::sqrt(a[i] * b[i]));
  for (double& p : result) p /= sum;  // 1 for probabilities
  return result;
}

// Targets of the three sentences.
const std::vector<std::vector<Token>> kTargets = {{7, 3}, {4, 4, 8, 5}, {}};

std::vector<std::span<const Token>> targets() { return {kTargets.begin(), kTargets.end()}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(scorer)

BOOST_AUTO_TEST_CASE(an_ensemble_is_the_mean_of_its_models) {
  const SmallModel a("global", 4), b("global", 5), vanilla("none", 6);
  Tape tape(Tape::Mode::infer);
  for (const Scorer::Mean mean : {Scorer::Mean::probabilities, Scorer::Mean::log_probabilities}) {
    for (const SmallModel* other : {&b, &vanilla}) {
      const Scorer scorer({a.model.get(), other->model.get()}, mean);
      BOOST_TEST(scorer.aligns());
      const auto forced = force(scorer, tape, a.all(), targets());
      for (std::size_t s = 0; s < 3; ++s) {
        const Hypothesis& found = forced[s].hypothesis;
        BOOST_REQUIRE(found.steps() == kTargets[s].size() + 1);
        double sum = 0;
        for (std::size_t t = 0; t < found.steps(); ++t) {
          const auto prefix = std::span(kTargets[s]).first(t);
          const NextStep x = next_step(a, static_cast<Index>(s), prefix);
          const NextStep y = next_step(*other, static_cast<Index>(s), prefix);
          const std::vector<double> p = mean_of(x.p, y.p, mean);
          const Token token = t < kTargets[s].size() ? kTargets[s][t] : kEnd;
          const double expected = std::log(p[usize(token)]);
          BOOST_TEST(std::abs(found.log_probabilities[t] - expected) < kNear);
          BOOST_TEST(forced[s].best[t] == std::max_element(p.begin(), p.end()) - p.begin());
          sum += expected;
          for (std::size_t i = 0; i < x.weights.size(); ++i) {
            const double w = y.weights.empty() ? x.weights[i] : (x.weights[i] + y.weights[i]) / 2;
            BOOST_TEST(std::abs(static_cast<double>(found.alignment[t * x.weights.size() + i]) -
                                w) < kNear);
          }
        }
        BOOST_TEST(std::abs(found.log_probability - sum) < 4 * kNear);
      }
    }
  }
}

// Compares all outputs of at most three steps, for one model or two, with a beam that keeps all of them.
BOOST_AUTO_TEST_CASE(a_wide_beam_finds_the_best_output) {
  const SmallModel a("global", 4), b("global", 5);
  Tape tape(Tape::Mode::infer);
  for (const SmallModel* other : {&a, &b}) {
    const Scorer scorer = other == &a ? Scorer(*a.model) : Scorer({a.model.get(), b.model.get()});
    const auto found = beam_search(scorer, tape, a.all(), {2000, 0, {0.2, 2}});
    double best = -1e9;
    std::vector<Token> argument;
    std::vector<std::pair<std::vector<Token>, double>> open = {{{}, 0}};
    for (int step = 0; step < 3; ++step) {
      std::vector<std::pair<std::vector<Token>, double>> longer;
      for (const auto& [prefix, so_far] : open) {
        const std::vector<double> p = mean_of(
            next_step(a, 0, prefix).p, next_step(*other, 0, prefix).p, Scorer::Mean::probabilities);
        if (so_far + std::log(p[kEnd]) > best) {
          best = so_far + std::log(p[kEnd]);
          argument = prefix;
        }
        for (Token v = 0; v < SmallModel::kSymbols; ++v) {
          if (v == kBegin || v == kEnd) continue;
          longer.push_back({prefix, so_far + std::log(p[usize(v)])});
          longer.back().first.push_back(v);
        }
      }
      open = std::move(longer);
    }
    BOOST_TEST(found[0].front().finished);
    BOOST_TEST(found[0].front().tokens == argument, boost::test_tools::per_element());
    BOOST_TEST(std::abs(found[0].front().log_probability - best) < 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(a_sentence_alone_and_in_a_batch_give_the_same_bits) {
  const SmallModel a("global", 4), b("none", 5);
  const Scorer scorer({a.model.get(), b.model.get()});
  Tape tape(Tape::Mode::infer);
  const auto together = beam_search(scorer, tape, a.all(), {});
  for (Index s = 0; s < 3; ++s)
    expect_same(beam_search(scorer, tape, a.one(s, s), {})[0], together[usize(s)]);
}

BOOST_AUTO_TEST_CASE(models_of_other_vocabularies_are_refused) {
  const SmallModel a;
  ModelOptions options;
  options.embedding = 8;
  const Model other(options, 9, 10, 1);
  BOOST_CHECK_THROW(Scorer({a.model.get(), &other}), SpecError);
  BOOST_CHECK_THROW(Scorer(std::vector<const Model*>{}), BugError);
}

// A hypothesis of a search has the same bits if it is given as a reference.
BOOST_AUTO_TEST_CASE(forced_decoding_of_a_hypothesis_gives_its_bits) {
  for (const char* attention : {"global", "none"}) {
    const SmallModel small(attention);
    Tape tape(Tape::Mode::infer);
    const auto found = beam_search(*small.model, tape, small.all(), {});
    std::size_t compared = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      std::vector<std::span<const Token>> references;
      for (const auto& list : found) references.push_back(list[k].tokens);
      const auto forced = force(*small.model, tape, small.all(), references);
      for (std::size_t s = 0; s < 3; ++s) {
        const Hypothesis &x = forced[s].hypothesis, &y = found[s][k];
        BOOST_TEST(x.tokens == y.tokens, boost::test_tools::per_element());
        if (!y.finished) continue;
        ++compared;
        BOOST_TEST(x.finished);
        BOOST_TEST(x.log_probability == y.log_probability);
        BOOST_TEST((x.log_probabilities == y.log_probabilities));
        BOOST_TEST((x.alignment == y.alignment));
      }
    }
    BOOST_TEST(compared > 0u);
  }
}

// Evaluation decodes a forced reference step by step for an ensemble, and in a single pass for one model.
BOOST_AUTO_TEST_CASE(a_model_twice_is_evaluated_like_the_model) {
  const SmallModel small;
  Split split;
  const std::vector<Link> links = {{0, 0, true}, {1, 1, true}};
  for (std::size_t s = 0; s < 2; ++s)
    split.examples.append({.source = std::span(small.tokens).subspan(5 * s, s == 0 ? 4 : 2),
                           .target = kTargets[s],
                           .links = links});
  const auto vocabulary = load_vocabulary("softalign-vocabulary 1 symbols\na\nb\nc\nd\ne\nf\n");
  Workers workers(1);
  EvaluationRequest request;
  request.keep = 2;
  const auto once = evaluate(*small.model, split, *vocabulary, request, workers);
  const auto twice = evaluate(
      Scorer({small.model.get(), small.model.get()}), split, *vocabulary, request, workers);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto both = [&](const char* column) {
      const auto sum = [&](const CountTable& counts) {
        return Counts(counts.layout(), rows_of(counts, std::vector{static_cast<Index>(s)}))
            .sum(column);
      };
      return std::pair(sum(once.counts), sum(twice.counts));
    };
    for (const char* column :
         {"nll", "correct_tokens", "target_tokens", "pointing_hits", "attention_entropy"}) {
      const auto [x, y] = both(column);
      BOOST_TEST(std::abs(x - y) < kNear, column);
    }
    BOOST_TEST((both("pointing_tokens") == std::pair(2.0, 2.0)));
    BOOST_REQUIRE(once.forced[s].weights.size() == twice.forced[s].weights.size());
    BOOST_TEST(once.forced[s].positions == twice.forced[s].positions);
  }
}

BOOST_AUTO_TEST_SUITE_END()
