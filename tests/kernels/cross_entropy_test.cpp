// Functions of a row of logits that searches need, against plain loops.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/cross_entropy.hpp"

using namespace softalign;

namespace {

std::vector<real> random_logits(Index count, double spread) {
  const RandomStream random(3, "logits");
  std::vector<real> x(usize(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<real>(spread * random.normal(i));
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cross_entropy)

BOOST_AUTO_TEST_CASE(log_sum_exp_is_the_definition) {
  for (Index vocabulary : {1, 15, 16, 63, 64, 65, 200, 8001}) {
    const std::vector<real> x = random_logits(3 * vocabulary, 20);
    real sums[3];
    kernels::log_sum_exp(3, vocabulary, x.data(), sums);
    for (Index row = 0; row < 3; ++row) {
      double sum = 0;
      for (Index v = 0; v < vocabulary; ++v)
        sum += std::exp(static_cast<double>(x[usize(row * vocabulary + v)]));
      BOOST_TEST(std::abs(static_cast<double>(sums[row]) - std::log(sum)) < 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_largest_and_its_place_are_found_anywhere) {
  for (Index vocabulary = 1; vocabulary < 200; ++vocabulary) {
    std::vector<real> x = random_logits(vocabulary, 1);
    const auto place = usize(vocabulary * 7 / 11);
    x[place] = 100;
    real nll = 0;
    Token best = -1;
    const Token target = static_cast<Token>(place);
    kernels::softmax_cross_entropy(1, vocabulary, &target, 1, x.data(), &nll, &best, false);
    BOOST_TEST(best == target);
    BOOST_TEST(nll == 0);
  }
}

BOOST_AUTO_TEST_CASE(the_first_of_equal_ones_is_the_best_and_of_nan_some) {
  for (Index vocabulary : {1, 2, 63, 64, 65, 128, 300}) {
    for (real number : {real{3}, std::nanf("")}) {
      std::vector<real> x(usize(vocabulary), number);
      real nll = 0;
      Token best = -1;
      const Token target = 0;
      kernels::softmax_cross_entropy(1, vocabulary, &target, 1, x.data(), &nll, &best, false);
      BOOST_TEST((std::isnan(number) ? best >= 0 && best < vocabulary : best == 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(first_above_is_a_plain_search) {
  const real nan = std::nanf("");
  const real infinity = std::numeric_limits<real>::infinity();
  for (Index count : {0, 1, 63, 64, 65, 128, 300}) {
    std::vector<real> x = random_logits(count, 1);
    for (std::size_t i = 5; i < x.size(); i += 17) x[i] = nan;
    for (real bound : {-infinity, real{-1}, real{0}, real{2}, infinity, nan})
      for (Index first = 0; first <= count; ++first) {
        Index expected = first;
        while (expected < count && !(x[usize(expected)] > bound)) ++expected;
        BOOST_TEST(kernels::first_above(first, count, x.data(), bound) == expected);
      }
    for (std::size_t i = 0; i < x.size(); ++i)  // equal is not above
      BOOST_TEST(
          kernels::first_above(static_cast<Index>(i), static_cast<Index>(i) + 1, x.data(), x[i]) ==
          static_cast<Index>(i) + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
