// Dropout: masks against tests/reference/dropout.py, its forms against each other, gradients.
#include <boost/test/unit_test.hpp>

#include <functional>
#include <numeric>
#include <vector>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/autodiff/rematerialize.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/nn/layers.hpp"

using namespace softalign;

namespace {

const std::vector<Index> kExamples = {11, 4};
constexpr Index kSteps = 3, kSize = 6;
constexpr double kRate = 0.3;

// Printed by tests/reference/dropout.py: [example, step, number].
constexpr int kKeep[2][kSteps][kSize] = {
    {{1, 1, 0, 1, 0, 1}, {1, 1, 1, 0, 0, 1}, {1, 1, 1, 1, 0, 0}},
    {{1, 1, 0, 1, 1, 0}, {1, 0, 1, 1, 0, 1}, {1, 0, 1, 0, 0, 1}}};

struct Fixture {
  ParameterStore store;
  Parameters root{store};
  Noise noise{5, 7, kExamples};
  Tape tape{Tape::Mode::train};

  Fixture() { tape.set_noise(&noise); }
  Dropout layer(Dropout::Mask mask = Dropout::Mask::each_step,
                DropoutUnit unit = DropoutUnit::number,
                double rate = kRate) {
    return Dropout(root / "decoder", "dropout", rate, mask, unit);
  }
  Var ones(Shape shape) {
    View x = tape.allocate(shape);
    std::fill(x.begin(), x.end(), real{1});
    return tape.constant(x);
  }
};

std::vector<real> numbers(Var x) { return {x.value().begin(), x.value().end()}; }
real kept(Index b, Index t, Index i) { return static_cast<real>(kKeep[b][t][i] / (1 - kRate)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(dropouts)

BOOST_FIXTURE_TEST_CASE(masks_are_those_of_the_reference, Fixture) {
  const Dropout dropout = layer();
  const auto sentences_first = numbers(dropout.sentences_first(ones({2, kSteps, kSize}))),
             steps_first = numbers(dropout.steps_first(ones({kSteps, 2, kSize})));
  for (Index t = 0; t < kSteps; ++t) {
    const auto one = numbers(dropout(ones({2, kSize}), t));
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < kSize; ++i) {
        const real wanted = kept(b, t, i);
        BOOST_TEST(one[usize(b * kSize + i)] == wanted);
        BOOST_TEST(sentences_first[usize((b * kSteps + t) * kSize + i)] == wanted);
        BOOST_TEST(steps_first[usize((t * 2 + b) * kSize + i)] == wanted);
      }
  }
}

// Every step has the mask of step 0; whole vectors are dropped by the draw of their first number.
BOOST_FIXTURE_TEST_CASE(variational_masks_and_whole_vectors, Fixture) {
  const auto variational =
      numbers(layer(Dropout::Mask::all_steps).steps_first(ones({kSteps, 2, kSize})));
  const auto words = numbers(layer(Dropout::Mask::each_step, DropoutUnit::vector)
                                 .sentences_first(ones({2, kSteps, kSize})));
  const auto step = numbers(layer(Dropout::Mask::all_steps)(ones({2, kSize}), 2));
  for (Index t = 0; t < kSteps; ++t)
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < kSize; ++i) {
        BOOST_TEST(variational[usize((t * 2 + b) * kSize + i)] == kept(b, 0, i));
        BOOST_TEST(step[usize(b * kSize + i)] == kept(b, 0, i));
        BOOST_TEST(words[usize((b * kSteps + t) * kSize + i)] == kept(b, t, 0));
      }
}

// Heads [B,H,T,S] have different masks; a sentence's mask does not depend on the size of the batch.
BOOST_FIXTURE_TEST_CASE(a_mask_knows_nothing_of_padding, Fixture) {
  const Dropout dropout = layer();
  const auto small = numbers(dropout.sentences_first(ones({2, 3, 4, 5}), 2)),
             large = numbers(dropout.sentences_first(ones({2, 3, 6, 9}), 2));
  int different = 0;
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h)
      for (Index t = 0; t < 4; ++t)
        for (Index s = 0; s < 5; ++s) {
          const real number = small[usize(((b * 3 + h) * 4 + t) * 5 + s)];
          BOOST_TEST(number == large[usize(((b * 3 + h) * 6 + t) * 9 + s)]);
          different += number != small[usize((b * 3 * 4 + t) * 5 + s)];
        }
  BOOST_TEST(different > 20);

  const std::vector<Index> other_way_round = {4, 11};
  const auto before = numbers(dropout(ones({2, kSize}), 1));
  noise.examples = other_way_round;
  auto after = numbers(dropout(ones({2, kSize}), 1));
  std::rotate(after.begin(), after.begin() + kSize, after.end());
  BOOST_TEST(before == after);
  noise.update = 8;
  BOOST_TEST((before != numbers(dropout(ones({2, kSize}), 1))));
}

BOOST_FIXTURE_TEST_CASE(the_mean_stays, Fixture) {
  const auto y = numbers(layer()(ones({2, 50000}), 0));
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / 1e5;
  BOOST_TEST(std::abs(mean - 1) < 0.01);  // its standard deviation is 0.002
}

BOOST_FIXTURE_TEST_CASE(identity_without_noise_or_rate, Fixture) {
  Var x = ones({2, kSize});
  BOOST_TEST(layer(Dropout::Mask::each_step, DropoutUnit::number, 0)(x, 0).value().data ==
             x.value().data);
  BOOST_CHECK_THROW(layer()(ones({3, kSize}), 0), BugError);  // noise is for two sentences
  tape.set_noise(nullptr);
  BOOST_TEST(layer()(x, 0).value().data == x.value().data);
  BOOST_CHECK_THROW(dropout(x, kRate, RandomStream(0, "x"), {}, DropoutUnit::number), BugError);
}

// A rematerialised evaluation draws the same masks.
BOOST_FIXTURE_TEST_CASE(gradients_through_a_scratch_tape_too, Fixture) {
  const Dropout each = layer(), words = layer(Dropout::Mask::each_step, DropoutUnit::vector);
  std::vector<real> numbers(2 * kSteps * kSize);
  std::iota(numbers.begin(), numbers.end(), real{-17});
  for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 30}) {
    const GradientCheck result = check_gradients(
        [&](Tape& on, const std::vector<Var>& x) {
          on.set_noise(&noise);
          return std::vector<Var>{rematerialize<1>(on, {x[0]}, keep_bytes, [&](auto y) {
            return tanh(real{0.1} * words.sentences_first(each.sentences_first(y[0])));
          })};
        },
        {{numbers.data(), {2, kSteps, kSize}}},
        nullptr,
        1000);
    BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
    BOOST_TEST(result.checked == 36);
  }
}

BOOST_AUTO_TEST_SUITE_END()
