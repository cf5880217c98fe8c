// Losses of training against tests/reference/training_losses.py, and their gradients.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/ops/ops.hpp"
#include "tests/gradient/projected_cross_entropy.hpp"

using namespace softalign;

namespace {

using Inputs = std::vector<Var>;

struct Sines {
  Sines(int k, Shape s) : shape(s), numbers(usize(s.size())) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::sin(static_cast<double>(k) + static_cast<double>(i));
  }
  View view() { return {numbers.data(), shape}; }
  Shape shape;
  std::vector<double> numbers;
};

const std::vector<Token> kTargets = {2, -1, 0, 3, 3};
const std::vector<Index> kPositions = {4, 3}, kSteps = {3, 2};
const std::vector<AlignedPair> kPairs = {
    {0, 0, 0, 0.5}, {0, 0, 3, 0.5}, {2, 0, 1, 1}, {1, 1, 2, 1}};

void check(const std::vector<View>& inputs, const std::function<Var(const Inputs&)>& f) {
  const GradientCheck result =
      check_gradients([&](Tape&, const Inputs& x) { return Inputs{f(x)}; }, inputs, nullptr, 1000);
  BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
  BOOST_TEST(result.checked > 0);
}

// [T,B,S], made of sines as in the reference, and as T steps.
struct Weights {
  Weights() {
    for (std::size_t i = 0; i < 24; ++i) energies.push_back(std::sin(4.0 + static_cast<double>(i)));
  }
  static std::span<const Var> steps(Var energies) {
    Tape& tape = energies.tape();
    const std::span<const Var> raw = unstack_steps(std::move(energies));
    Var* weights = tape.arena().array_of<Var>(3);
    for (std::size_t t = 0; t < 3; ++t) weights[t] = softmax_prefix(raw[t], kPositions);
    return {weights, 3};
  }
  View view() { return {energies.data(), {3, 2, 4}}; }
  std::vector<double> energies;
};

bool near(double a, double b) { return std::abs(a - b) < 1e-11; }

}  // namespace

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(label_smoothing_is_that_of_the_reference) {
  Sines x(1, {5, 3}), w(2, {3, 4}), b(3, {4});
  std::vector<double> dx(15), dw(12), db(4);
  Tape tape(Tape::Mode::train);
  const TokenLosses losses = projected_cross_entropy(tape.leaf(x.view(), dx.data()),
                                                     tape.leaf(w.view(), dw.data()),
                                                     tape.leaf(b.view(), db.data()),
                                                     kTargets,
                                                     1,
                                                     0.1);
  BOOST_TEST(near(sum(losses.loss).value().data[0], 5.4350542307001035));
  double nll = 0;
  for (double one : losses.nll) nll += one;
  BOOST_TEST(near(nll, 5.376143809650528));  // not smoothed
  tape.backward(losses.loss);
  const double wanted_x[15] = {0.943971774502,
                               -0.733793003326,
                               0.015306456815,
                               0,
                               0,
                               0,
                               -0.744765761702,
                               0.482044170609,
                               0.114595567515,
                               1.004024100583,
                               -0.234968095286,
                               -0.696853307402,
                               0.719417777893,
                               -0.070577296138,
                               -0.627152979097};
  const double wanted_b[4] = {0.686604202355, 0.659369924088, -0.422602133039, -0.923371993405};
  for (std::size_t i = 0; i < 15; ++i) BOOST_TEST(near(dx[i], wanted_x[i]));
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(near(db[i], wanted_b[i]));
}

BOOST_AUTO_TEST_CASE(label_smoothing_has_its_gradients) {
  Sines x(1, {5, 3}), w(2, {3, 4}), b(3, {4});
  check({x.view(), w.view(), b.view()}, [](const Inputs& in) {
    return sum(projected_cross_entropy(in[0], in[1], in[2], kTargets, 0.25, 0.3).loss);
  });
}

BOOST_AUTO_TEST_CASE(doubly_stochastic_attention) {
  Weights weights;
  Tape tape(Tape::Mode::infer);
  const auto steps = Weights::steps(tape.constant(weights.view()));
  BOOST_TEST(near(sum(doubly_stochastic_penalty(steps, kPositions, kSteps, 3)).value().data[0],
                  3 * 0.8327943393521482));
  check({weights.view()}, [](const Inputs& in) {
    return doubly_stochastic_penalty(Weights::steps(in[0]), kPositions, kSteps, 0.7);
  });
  BOOST_CHECK_THROW(doubly_stochastic_penalty({}, kPositions, kSteps, 1), BugError);
}

BOOST_AUTO_TEST_CASE(coverage_of_attention) {
  Weights weights;
  Tape tape(Tape::Mode::infer);
  const auto steps = Weights::steps(tape.constant(weights.view()));
  BOOST_TEST(near(sum(coverage_penalty(steps, kPositions, kSteps, 3)).value().data[0],
                  3 * 2.304738363825095));
  check({weights.view()}, [](const Inputs& in) {
    return coverage_penalty(Weights::steps(in[0]), kPositions, kSteps, 0.7);
  });
  BOOST_CHECK_THROW(coverage_penalty({}, kPositions, kSteps, 1), BugError);
}

// It is 0 if and only if the weights of every source position sum to 1.
BOOST_AUTO_TEST_CASE(doubly_stochastic_attention_is_0_for_a_permutation) {
  double numbers[3][2][3] = {
      {{0, 1, 0}, {0, 1, 9}}, {{1, 0, 0}, {1, 0, 9}}, {{0, 0, 1}, {9, 9, 9}}};
  Tape tape(Tape::Mode::infer);
  std::vector<Var> steps;
  for (auto& step : numbers) steps.push_back(tape.constant({&step[0][0], {2, 3}}));
  const std::vector<Index> lengths = {3, 2};  // 9 is padding
  for (real penalty : doubly_stochastic_penalty(steps, lengths, lengths, 1).value())
    BOOST_TEST(penalty == 0);
}

BOOST_AUTO_TEST_CASE(guided_alignment) {
  Weights weights;
  Tape tape(Tape::Mode::infer);
  const auto steps = Weights::steps(tape.constant(weights.view()));
  BOOST_TEST(
      near(sum(alignment_cross_entropy(steps, kPairs, 2)).value().data[0], 2 * 3.5281051829474372));
  check({weights.view()}, [](const Inputs& in) {
    return alignment_cross_entropy(Weights::steps(in[0]), kPairs, 0.7);
  });
}

BOOST_AUTO_TEST_SUITE_END()
