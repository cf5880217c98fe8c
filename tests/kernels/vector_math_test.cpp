// The vectorised functions against the C library's, and their behaviour at limits.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/vector_math.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(vector_functions)

BOOST_AUTO_TEST_CASE(errors_are_a_few_units_in_the_last_place) {
  double exp_error = 0, tanh_error = 0, sigmoid_error = 0;
  for (int i = -800000; i <= 800000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    const double d = static_cast<double>(x);
    exp_error = std::max(exp_error, std::abs(static_cast<double>(vector_exp(x)) / std::exp(d) - 1));
    if (i != 0)
      tanh_error =
          std::max(tanh_error, std::abs(static_cast<double>(vector_tanh(x)) / std::tanh(d) - 1));
    sigmoid_error = std::max(
        sigmoid_error, std::abs(static_cast<double>(vector_sigmoid(x)) * (1 + std::exp(-d)) - 1));
  }
  BOOST_TEST(exp_error < 2.5e-7);
  BOOST_TEST(tanh_error < 4e-7);
  BOOST_TEST(sigmoid_error < 4e-7);
}

BOOST_AUTO_TEST_CASE(edges) {
  const float infinity = std::numeric_limits<float>::infinity();
  BOOST_TEST(vector_tanh(infinity) == 1.0f);
  BOOST_TEST(vector_tanh(-infinity) == -1.0f);
  BOOST_TEST(std::signbit(vector_tanh(-0.0f)));
  BOOST_TEST(vector_tanh(0.0f) == 0.0f);
  BOOST_TEST(vector_exp(0.0f) == 1.0f);
  BOOST_TEST(std::isfinite(vector_exp(1e30f)));
  BOOST_TEST(vector_exp(-1e30f) < 1e-37f);
  BOOST_TEST(std::isnan(vector_exp(std::nanf(""))));
  BOOST_TEST(std::isnan(vector_tanh(std::nanf(""))));
  BOOST_TEST(std::isnan(vector_sigmoid(std::nanf(""))));
}

// The kernels are compiled for several vector widths, the scalar functions are not. All must have the
// same bits.
BOOST_AUTO_TEST_CASE(wide_kernels_give_the_scalar_bits) {
  const Index n = 100003;
  std::vector<real> x(usize(n)), y(x.size()), s(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<real>(static_cast<double>(i) * 2e-4 - 10);
  kernels::tanh_forward(n, x.data(), y.data());
  kernels::sigmoid_forward(n, x.data(), s.data());
  int different = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    different += (y[i] != vector_tanh(x[i])) + (s[i] != vector_sigmoid(x[i]));
  BOOST_TEST(different == 0);
  BOOST_TEST(kernels::dot(n, x.data(), x.data()) ==
             lane_sum(n, [&](Index i) { return x[usize(i)] * x[usize(i)]; }));
}

BOOST_AUTO_TEST_SUITE_END()
