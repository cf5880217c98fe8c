// A fused operation against its specification in small operations: value and gradients, in double.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/ops/ops.hpp"

namespace softalign::testing {

using Inputs = std::vector<Var>;
using Function = std::function<Var(const Inputs&)>;

struct Result {
  std::vector<double> value;
  std::vector<double> gradients;
};

// Returns the value of f and the gradients of a sum of its outputs with fixed, arbitrary weights.
inline Result evaluate(const std::vector<Shape>& shapes, const Function& f) {
  std::vector<std::vector<double>> numbers, gradients;
  Tape tape(Tape::Mode::train);
  Inputs inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    numbers.emplace_back(usize(shapes[i].size()));
    gradients.emplace_back(numbers.back().size());
    const RandomStream stream(11, "reference" + std::to_string(i));
    for (std::size_t k = 0; k < numbers.back().size(); ++k) numbers.back()[k] = stream.normal(k);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(tape.leaf({numbers[i].data(), shapes[i]}, gradients[i].data()));
  Var y = f(inputs);
  View weights = tape.allocate(y.shape());
  const RandomStream stream(13, "weights");
  for (Index i = 0; i < weights.size(); ++i)
    weights.data[i] = weights.size() == 1 ? 1 : stream.normal(static_cast<std::uint64_t>(i));
  Result result;
  result.value.assign(y.value().begin(), y.value().end());
  tape.backward(sum(y * tape.constant(weights)));
  for (const auto& gradient : gradients)
    result.gradients.insert(result.gradients.end(), gradient.begin(), gradient.end());
  return result;
}

inline void equal(const std::vector<Shape>& shapes,
                  const Function& fused,
                  const Function& reference) {
  const Result a = evaluate(shapes, fused), b = evaluate(shapes, reference);
  BOOST_REQUIRE(a.value.size() == b.value.size());
  BOOST_REQUIRE(a.gradients.size() == b.gradients.size());
  for (std::size_t i = 0; i < a.value.size(); ++i)
    BOOST_TEST(std::abs(a.value[i] - b.value[i]) < 1e-12);
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    BOOST_TEST(std::abs(a.gradients[i] - b.gradients[i]) < 1e-11);
}

}  // namespace softalign::testing
