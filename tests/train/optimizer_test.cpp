// Two steps of every optimiser against its paper's formulas in double.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "framework/train/optimizer.hpp"

using namespace softalign;

namespace {

const double kGradients[2] = {0.5, -0.25};
const double kRateFactor = 0.25;  // from a schedule

// Returns the value after two steps from 1, with a gradient scale of 0.5 and a quarter of the learning rate.
double after_two_steps(const std::string& name) {
  const auto optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = name});
  std::vector<std::vector<real>> state(optimizer->state().size(), std::vector<real>(1));
  std::vector<real*> pointers;
  for (auto& buffer : state) pointers.push_back(buffer.data());
  real value = 1;
  for (Index update = 1; update <= 2; ++update) {
    const real gradient = static_cast<real>(2 * kGradients[update - 1]);
    optimizer->apply(1, {update, real{0.5}, kRateFactor}, &gradient, &value, pointers);
  }
  return static_cast<double>(value);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

BOOST_AUTO_TEST_CASE(sgd) {
  BOOST_TEST(std::abs(after_two_steps("sgd") - (1 - 0.025 * 0.5 + 0.025 * 0.25)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(adadelta) {
  const double rho = 0.95, epsilon = 1e-6;
  double squares = 0, steps = 0, value = 1;
  for (double g : kGradients) {
    squares = rho * squares + (1 - rho) * g * g;
    const double d = std::sqrt(steps + epsilon) / std::sqrt(squares + epsilon) * g;
    steps = rho * steps + (1 - rho) * d * d;
    value -= kRateFactor * d;
  }
  BOOST_TEST(std::abs(after_two_steps("adadelta") - value) < 1e-6);
}

BOOST_AUTO_TEST_CASE(adam) {
  double m = 0, v = 0, value = 1;
  for (int t = 1; t <= 2; ++t) {
    const double g = kGradients[t - 1];
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    value -= kRateFactor * 1e-3 * (m / (1 - std::pow(0.9, t))) /
             (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  BOOST_TEST(std::abs(after_two_steps("adam") - value) < 1e-6);
}

// Weight decay is tested in training_step/weights_decay_before_a_step.
BOOST_AUTO_TEST_CASE(adamw) {
  BOOST_TEST(after_two_steps("adamw") == after_two_steps("adam"));
  const auto decay = [](const char* name) {
    return make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = name})->weight_decay();
  };
  BOOST_TEST(decay("adamw") == 0.01);
  for (const char* name : {"adam", "sgd", "adadelta", "lion"}) BOOST_TEST(decay(name) == 0);
}

BOOST_AUTO_TEST_CASE(lion) {  // m = 0, 0.005: directions 0.05 and 0.0045 - 0.025
  BOOST_TEST(std::abs(after_two_steps("lion") - (1 - kRateFactor * 1e-4 + kRateFactor * 1e-4)) <
             1e-7);
}

BOOST_AUTO_TEST_SUITE_END()
