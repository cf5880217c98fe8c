#include "framework/eval/ibm_model1.hpp"

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"

using namespace softalign;
using boost::test_tools::tolerance;

namespace {

struct Pair {
  std::vector<Token> source, target;
};

Examples examples_of(const std::vector<Pair>& pairs) {
  Examples examples;
  for (const Pair& pair : pairs) examples.append({.source = pair.source, .target = pair.target});
  return examples;
}

constexpr Token house = 3, blue = 4;  // source
constexpr Token casa = 5, azul = 3;   // target
const std::vector<Pair> kWords{{{blue, house}, {casa, azul}}, {{house}, {casa}}};
const Examples kPairs = examples_of(kWords);

}  // namespace

BOOST_AUTO_TEST_SUITE(ibm_model1)

// Computed by hand, without the empty word. Step 1: each target word is shared equally by its pair's
// source words, so that `house` expects casa 1/2 + 1 and azul 1/2, `blue` 1/2 of each.
BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  const IbmModel1 one(kPairs, 1, false);
  BOOST_TEST(one.probability(casa, house) == 3. / 4, tolerance(1e-14));
  BOOST_TEST(one.probability(azul, house) == 1. / 4, tolerance(1e-14));
  BOOST_TEST(one.probability(casa, blue) == 1. / 2, tolerance(1e-14));

  // Step 2: casa of the first pair is shared 3 : 2, azul 1 : 2; `house` expects casa 3/5 + 1 and
  // azul 1/3, `blue` 2/5 and 2/3.
  const IbmModel1 two(kPairs, 2, false);
  BOOST_TEST(two.probability(casa, house) == (8. / 5) / (8. / 5 + 1. / 3), tolerance(1e-14));
  BOOST_TEST(two.probability(azul, blue) == (2. / 3) / (2. / 5 + 2. / 3), tolerance(1e-14));
}

// With the empty word: step 1 shares the first pair's words among three and the second's among two,
// so that `house` expects casa 1/3 + 1/2 and azul 1/3.
BOOST_AUTO_TEST_CASE(one_step_with_the_empty_word_by_hand) {
  const IbmModel1 one(kPairs, 1, true);
  BOOST_TEST(one.probability(casa, house) == 5. / 7, tolerance(1e-14));
  BOOST_TEST(one.probability(casa, blue) == 1. / 2, tolerance(1e-14));
  BOOST_TEST(one.probability(casa, blue + 1) == 0.0);  // the empty word has no number
}

BOOST_AUTO_TEST_CASE(a_word_that_occurs_twice_takes_two_shares) {
  const Examples pairs = examples_of({{{house, house, blue}, {casa}}, {{house}, {azul}}});
  const IbmModel1 one(pairs, 1, false);
  BOOST_TEST(one.probability(casa, house) == (2. / 3) / (2. / 3 + 1), tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(weights_are_shares_of_the_source_words) {
  const IbmModel1 model(kPairs);
  const AlignmentMatrix w =
      model.weights(std::vector<Token>{blue, house, house}, std::vector<Token>{casa, 99});
  BOOST_TEST((w.steps == 2 && w.positions == 3));
  BOOST_TEST(w.weights[1] == w.weights[2]);
  BOOST_TEST(w.weights[0] < w.weights[1]);
  BOOST_TEST(w.weights[0] + w.weights[1] + w.weights[2] == 1.F, tolerance(1e-6F));
  BOOST_TEST((w.weights[3] == 0 && w.weights[4] == 0 && w.weights[5] == 0));  // never seen
}

BOOST_AUTO_TEST_CASE(pairs_with_an_empty_side_are_harmless) {
  std::vector<Pair> more = kWords;
  more.push_back({{}, {casa}});
  more.push_back({{blue, 9}, {}});
  const IbmModel1 plain(kPairs, 3, false), padded(examples_of(more), 3, false);
  BOOST_TEST(plain.probability(casa, house) == padded.probability(casa, house));
  BOOST_TEST(padded.probability(casa, 9) == 0.0);
  BOOST_CHECK_THROW(IbmModel1(Examples{}), Error);
  BOOST_CHECK_THROW(IbmModel1(examples_of({{{blue}, {}}})), Error);
}

BOOST_AUTO_TEST_SUITE_END()
