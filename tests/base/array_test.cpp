// xtensor arrays give the same bits as plain loops: reductions run in order, and expressions write through a view.
#include "framework/base/array.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/random.hpp"

using namespace softalign;

namespace {

// Numbers from 1e-6 to 1e6 of either sign, whose sum depends on the order of additions.
std::vector<double> some_numbers(std::size_t count) {
  const RandomStream stream(1, "numbers");
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const double exponent = 12.0 * stream.uniform(2 * i) - 6;
    numbers.push_back((stream.uniform(2 * i + 1) - 0.5) * std::pow(10.0, exponent));
  }
  return numbers;
}

double plain_sum(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array)

BOOST_AUTO_TEST_CASE(a_sum_is_that_of_a_loop_bit_for_bit) {
  for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 31, 64, 1000, 4097}) {
    const std::vector<double> numbers = some_numbers(count);
    const auto array = xt::adapt(numbers);
    BOOST_TEST(sum_of(array) == plain_sum(numbers));
    std::vector<double> squares;
    for (const double x : numbers) squares.push_back((x - 0.1) * (x - 0.1));
    BOOST_TEST(sum_of(xt::square(array - 0.1)) == plain_sum(squares));
  }
  std::vector<double> numbers = some_numbers(1000);
  const double forwards = plain_sum(numbers);
  std::ranges::reverse(numbers);
  BOOST_TEST(plain_sum(numbers) != forwards);  // so the test can see the order
}

BOOST_AUTO_TEST_CASE(an_expression_on_views_is_a_loop_bit_for_bit) {
  constexpr Index kRows = 5, kColumns = 37;
  const std::vector<double> numbers = some_numbers(2 * kRows * kColumns);
  std::vector<real> a(numbers.begin(), numbers.begin() + kRows * kColumns),
      b(numbers.begin() + kRows * kColumns, numbers.end()), made(a.size()), expected(a.size());
  const View x{a.data(), {kRows, kColumns}}, y{b.data(), {kRows, kColumns}},
      to{made.data(), {kRows, kColumns}};
  as_xtensor<2>(to) = as_xtensor<2>(x) * as_xtensor<2>(y) + xt::abs(as_xtensor<2>(x));
  for (std::size_t i = 0; i < a.size(); ++i) expected[i] = a[i] * b[i] + std::abs(a[i]);
  BOOST_TEST(made == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
