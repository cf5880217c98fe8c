// Attentions that must equal others at the limits of their options, and properties that distinguish them.
#include <algorithm>

#include "built.hpp"
#include "framework/seq/inspection.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::vector<double> weights_of(const std::string& option) {
  const BuiltAttention built(option, {kQuery, kAnnotation});
  std::vector<double> all;
  for (const Step& step : steps_of(*built.plugin, 20, {20, 7}))
    all.insert(all.end(), step.weights.begin(), step.weights.end());
  return all;
}

std::ptrdiff_t zeros(const std::vector<double>& weights) {
  return std::count(weights.begin(), weights.end(), 0.0);
}

// entmax by the operation that uses bisection for every alpha.
std::vector<double> bisected(View energies, real alpha, const std::vector<Index>& lengths) {
  Tape tape(Tape::Mode::infer);
  View all = tape.allocate({energies.shape[0], 1});
  std::fill(all.begin(), all.end(), alpha);
  const View w = entmax_prefix(tape.constant(energies), tape.constant(all), lengths).value();
  return {w.begin(), w.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_laws)

BOOST_AUTO_TEST_CASE(entmax_lies_between_softmax_and_sparsemax) {
  const std::string score = "score: {type: general}}";
  equal(weights_of("{type: entmax, alpha: 1, " + score), weights_of("{type: global, " + score));
  equal(weights_of("{type: entmax, alpha: 2, " + score), weights_of("{type: sparsemax, " + score));
  const auto none = zeros(weights_of("{type: global, " + score)),
             some = zeros(weights_of("{type: entmax, " + score)),
             most = zeros(weights_of("{type: sparsemax, " + score));
  BOOST_TEST(none == 3 * 13);  // padding only
  BOOST_TEST(none < some);
  BOOST_TEST(some < most);
}

// Agreement up to a few ulps, for energies up to 1000 and for equal energies.
BOOST_AUTO_TEST_CASE(bisection_agrees_with_the_exact_algorithms) {
  Tape tape(Tape::Mode::infer);
  const std::vector<Index> lengths = {50, 1, 13};
  for (const real size : {0.0, 0.1, 1.0, 30.0, 1000.0}) {
    View energies = filled(tape, {3, 50}, 4);
    for (real& e : energies) e *= size;
    Var e = tape.constant(energies);
    const auto near = [&](real alpha, Var expected) {
      const std::vector<double> w = bisected(energies, alpha, lengths);
      double worst = 0;
      for (std::size_t i = 0; i < w.size(); ++i)
        worst = std::max(worst, std::abs(w[i] - expected.value().data[i]));
      BOOST_TEST(worst < 4e-15, "alpha " << alpha << ", energies of " << size << ": " << worst);
      BOOST_TEST(std::count(w.begin() + 51, w.begin() + 100, 0.0) == 49);
    };
    near(1, softmax_prefix(e, lengths));
    near(1.5, entmax_prefix(e, 1.5, lengths));
    near(2, sparsemax_prefix(e, lengths));
  }
}

BOOST_AUTO_TEST_CASE(entmax_refuses_to_learn_from_the_ends) {
  for (const char* alpha : {"1", "2"}) {
    const auto message = test::message_of<SpecError>(
        [&] { weights_of(std::string("{type: entmax, learned: true, alpha: ") + alpha + "}"); });
    BOOST_TEST(message.find("never 1 or 2") != std::string::npos, message);
  }
}

// Only the weights are independent of the state, not the energies, and only up to rounding, because each state adds
// another constant to the energies.
BOOST_AUTO_TEST_CASE(stacked_weights_do_not_depend_on_the_state) {
  const BuiltAttention stacked("{type: global, score: stacked}", {kQuery, kAnnotation});
  const BuiltAttention additive("{type: global, score: additive}", {kQuery, kAnnotation});
  const auto steps = steps_of(*stacked.plugin), others = steps_of(*additive.plugin);
  equal(steps[0].weights, steps[1].weights);  // for two states
  equal(steps[0].weights, steps[2].weights);
  BOOST_TEST(steps[0].weights[0] != steps[0].weights[1]);
  BOOST_TEST(std::abs(others[0].weights[0] - others[1].weights[0]) > 1e-3);
}

BOOST_AUTO_TEST_CASE(a_chunk_of_one_is_monotonic_attention) {
  for (const char* test : {"hard", "soft"}) {
    const std::string rest = std::string("score: general, test: ") + test + "}";
    equal(weights_of("{type: mocha, chunk: 1, " + rest), weights_of("{type: monotonic, " + rest));
  }
}

BOOST_AUTO_TEST_CASE(a_hard_chunk_ends_at_the_pointer) {
  const auto at = weights_of("{type: monotonic, score: general}"),
             chunks = weights_of("{type: mocha, chunk: 3, score: general}");
  for (std::size_t row = 0; row < at.size(); row += 20) {
    const auto stop = std::find(at.begin() + row, at.begin() + row + 20, 1.0) - at.begin();
    for (std::size_t s = row; s < row + 20; ++s)
      BOOST_TEST((chunks[s] > 0) ==
                 (static_cast<std::size_t>(stop) < row + 20 &&
                  s + 3 > static_cast<std::size_t>(stop) && s <= static_cast<std::size_t>(stop)));
  }
}

// Energies compare the state with annotations; an encoder's separate values only enter the contexts.
BOOST_AUTO_TEST_CASE(weights_do_not_depend_on_values) {
  for (const char* option : {"{type: mocha, chunk: 3, score: general, test: soft}",
                             "{type: entmax, score: general}",
                             "{type: location_aware, units: 3, filters: 2, width: 3}"}) {
    const BuiltAttention built(option, {kQuery, kAnnotation});
    const auto same = steps_of(*built.plugin, 20, {20, 7}),
               other = steps_of(*built.plugin, 20, {20, 7}, kSteps, true);
    for (std::size_t t = 0; t < same.size(); ++t) equal(same[t].weights, other[t].weights);
    BOOST_TEST(same[0].context[0] != other[0].context[0], option);
  }
}

BOOST_AUTO_TEST_CASE(chunks_refuse_scores_that_need_more_than_keys) {
  for (const char* score : {"coverage", "location"})
    BOOST_TEST(test::message_of<SpecError>([&] {
                 weights_of(std::string("{type: mocha, chunk_score: ") + score + "}");
               }).find("chunk_score") != std::string::npos);
}

// The weights of each hop are reported like those of heads; the last hop's are the weights of the glimpse.
BOOST_AUTO_TEST_CASE(hops_show_their_weights_as_heads) {
  const BuiltAttention built("{type: memory_hops, hops: 3}", {kQuery, kAnnotation});
  Tape tape(Tape::Mode::infer);
  Annotations annotations;
  annotations.states = tape.constant(filled(tape, {2, kPositions, kAnnotation}, 1));
  annotations.lengths = kLengths;
  AttentionMemory memory = built.plugin->prepare(annotations);
  HeadWeights heads;
  memory.inspection.heads = &heads;
  Var state = tape.constant(filled(tape, {2, kQuery}, 2));
  const View last = built.plugin->attend(memory, {{state, 1, {}}, {}}).weights.value();
  BOOST_REQUIRE(heads.parts.size() == 1u);
  const View all = heads.parts[0].weights;
  BOOST_TEST(heads.parts[0].step == 1);
  BOOST_REQUIRE((all.shape == Shape{1, 2, 3, kPositions}));
  for (Index b = 0; b < 2; ++b)
    for (Index s = 0; s < kPositions; ++s) {
      BOOST_TEST(all.data[(b * 3 + 2) * kPositions + s] == last.data[b * kPositions + s]);
      if (s < kLengths[usize(b)])
        BOOST_TEST(all.data[b * 3 * kPositions + s] != all.data[(b * 3 + 1) * kPositions + s]);
    }
}

// The number of parameters of each attention by its formula, at Q = 3, D = 4, U = 5.
BOOST_AUTO_TEST_CASE(attentions_have_the_parameters_of_their_formulas) {
  const auto count = [](const char* option) {
    return BuiltAttention(option, {kQuery, kAnnotation}).store.count();
  };
  constexpr Index q = 3, d = 4, u = 5;
  BOOST_TEST(count("{type: memory_hops, units: 5, hops: 1}") == q * u + 2 * d * u);  // B, A, C
  BOOST_TEST(count("{type: memory_hops, units: 5, hops: 3}") == q * u + 2 * d * u + u * u);  // H
  BOOST_TEST(count("{type: memory_hops, units: 5, hops: 3, tying: adjacent}") == q * u + 4 * d * u);
  BOOST_TEST(count("{type: memory_hops, units: 5, hops: 3, tying: none}") ==
             q * u + 6 * d * u + 2 * u * u);
  BOOST_TEST(count("{type: mocha, score: general, chunk_score: general}") == 2 * q * d + 1);  // r
  BOOST_TEST(count("{type: entmax, score: general}") == q * d);
  BOOST_TEST(count("{type: entmax, score: general, learned: true}") == q * d + 1);
}

BOOST_AUTO_TEST_SUITE_END()
