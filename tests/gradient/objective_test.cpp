// The gradient of a whole model, with all losses that training can minimise at once.
#include <boost/test/unit_test.hpp>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/seq/model.hpp"

using namespace softalign;

namespace {

Batch small_batch() {
  Batch batch;
  batch.rows = 2;
  batch.source_steps = batch.target_steps = 4;
  batch.source = {4, 5, 6, kEnd, 5, 3, kEnd, kEnd};
  batch.target_out = {6, 5, 4, kEnd, 3, 5, kEnd, kEnd};
  batch.target_in = {kBegin, 6, 5, 4, kBegin, 3, 5, kEnd};
  batch.source_lengths = batch.target_lengths = {4, 3};
  batch.example = {17, 3};
  batch.links = {{{2, 0}, {1, 1}, {0, 1}, {0, 2}}, {{1, 0}}};
  return batch;
}

ModelOptions small_model() {
  ModelOptions options;
  options.embedding = 3;
  options.dropout = DropoutOptions{0.2, 0.2, 0.1};
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(objectives)

BOOST_AUTO_TEST_CASE(all_losses_together) {
  Model model(small_model(), 7, 7, 4);
  const Batch batch = small_batch();
  const Noise noise{9, 1, batch.example};
  Objective objective{.factor = 0.25,
                      .label_smoothing = 0.1,
                      .doubly_stochastic = 0.3,
                      .guided_alignment = 0.7,
                      .coverage = 0.6};
  double forced = 0;
  for (const double truth : {1.0, 0.3}) {
    objective.truth = truth;
    objective.argmax = true;
    double loss = 0;
    const GradientCheck result = check_gradients(
        [&](Tape& tape, const std::vector<Var>&) {
          tape.set_noise(&noise);
          const Var all = sum(model.forward(tape, batch, objective).losses.loss);
          loss = all.value().data[0];
          return std::vector<Var>{all};
        },
        {},
        &model.parameters(),
        6);
    BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
    BOOST_TEST(result.checked > 60);
    if (truth == 1.0)
      forced = loss;
    else
      BOOST_TEST(loss != forced);
  }
}

// The objective is the sum of its parts.
BOOST_AUTO_TEST_CASE(an_objective_is_the_sum_of_its_parts) {
  ModelOptions options;
  options.embedding = 3;
  const Model model(options, 7, 7, 4);
  const Batch batch = small_batch();
  const auto loss = [&](const Objective& objective) {
    Tape tape(Tape::Mode::infer);
    return sum(model.forward(tape, batch, objective).losses.loss).value().data[0];
  };
  const real plain = loss({.factor = 0.5}), penalty = loss({.factor = 0.5, .doubly_stochastic = 2}),
             guided = loss({.factor = 0.5, .guided_alignment = 3}),
             covered = loss({.factor = 0.5, .coverage = 4}),
             all = loss(
                 {.factor = 0.5, .doubly_stochastic = 2, .guided_alignment = 3, .coverage = 4});
  BOOST_TEST(penalty > plain);
  BOOST_TEST(guided > plain);
  BOOST_TEST(covered > plain);
  BOOST_TEST(std::abs(all - (penalty + guided + covered - 2 * plain)) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
