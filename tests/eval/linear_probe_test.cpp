// Linear probes against the same computation in xtensor-blas (LAPACK).
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/blas.hpp"
#include "framework/base/random.hpp"
#include "framework/eval/linear_probe.hpp"

namespace softalign {
namespace {

BOOST_AUTO_TEST_SUITE(linear_probe)

Vectors drawn(Index count, Index width) {
  const RandomStream random(7, "vectors");
  Vectors vectors{width, {}};
  for (Index i = 0; i < count * width; ++i)
    vectors.numbers.push_back(
        random.normal(static_cast<std::uint64_t>(i)) * static_cast<double>(1 + i % width) + 0.5);
  return vectors;
}

xt::xtensor<double, 2> as_matrix(const Vectors& vectors) {
  xt::xtensor<double, 2> matrix({usize(vectors.count()), usize(vectors.width)});
  std::copy(vectors.numbers.begin(), vectors.numbers.end(), matrix.begin());
  return matrix;
}

BOOST_AUTO_TEST_CASE(singular_values_are_those_of_lapack) {
  for (const auto& [count, width] :
       {std::pair<Index, Index>(30, 8), {6, 20}, {9, 9}, {1, 3}, {2, 2}, {300, 200}}) {
    const Vectors vectors = drawn(count, width);
    const xt::xtensor<double, 2> x = as_matrix(vectors), centred = x - xt::mean(x, {0});
    const auto expected = std::get<1>(xt::linalg::svd(centred, false));
    const std::vector<double> found = singular_values(vectors);
    BOOST_REQUIRE(std::ssize(found) == std::min(count, width));
    for (std::size_t i = 0; i < found.size(); ++i)
      BOOST_TEST(std::abs(found[i] - expected(i) / std::sqrt(static_cast<double>(count))) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(singular_values_may_be_alike_or_nothing) {
  Vectors corners{6, std::vector<double>(usize(12 * 6))};  // at -3 and 3 of each axis
  for (Index i = 0; i < 12; ++i) corners.numbers[usize(i * 6 + i / 2)] = i % 2 == 0 ? -3 : 3;
  for (const double value : singular_values(corners))
    BOOST_TEST(value == std::sqrt(18.0 / 12), boost::test_tools::tolerance(1e-12));
  for (const double value : singular_values({4, std::vector<double>(20, 0.5)}))
    BOOST_TEST(value == 0.0);
}

BOOST_AUTO_TEST_CASE(the_effective_rank_counts_directions) {
  BOOST_TEST(effective_rank({2, 2, 2}) == 3.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(effective_rank({5, 0, 0}) == 1.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(effective_rank({0, 0}) == 0.0);
  const double entropy = -0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  BOOST_TEST(effective_rank({3, 1}) == std::exp(entropy), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(ridge_regression_is_that_of_the_normal_equations) {
  const Vectors vectors = drawn(60, 5);
  std::vector<Index> classes;
  for (Index i = 0; i < 60; ++i)  // depends approximately on the first two numbers
    classes.push_back((vectors[i][0] > 0.5 ? 1 : 0) +
                      (vectors[i][1] + 0.3 * vectors[i][2] > 0.5 ? 2 : 0));
  const double ridge = 0.05;
  const auto x = as_matrix(vectors);
  const xt::xtensor<double, 2> taught_all = xt::view(x, xt::range(0, 60, 2)),
                               asked_all = xt::view(x, xt::range(1, 60, 2));
  const xt::xtensor<double, 1> mean = xt::mean(taught_all, {0});
  const xt::xtensor<double, 2> taught = taught_all - mean, asked = asked_all - mean;
  xt::xtensor<double, 2> y = xt::zeros<double>({30, 4});
  for (std::size_t i = 0; i < 30; ++i) y(i, usize(classes[2 * i])) = 1;
  const xt::xtensor<double, 1> share = xt::mean(y, {0});
  y -= share;
  xt::xtensor<double, 2> normal = xt::linalg::dot(xt::transpose(taught), taught);
  normal += ridge * xt::sum(taught * taught)() / 30 * xt::eye<double>(5);
  const xt::xtensor<double, 2> right = xt::linalg::dot(xt::transpose(taught), y),
                               weights = xt::linalg::solve(normal, right),
                               found = xt::linalg::dot(asked, weights) + share;
  ProbeCounts expected{0, 0, 30};
  const auto frequent = static_cast<Index>(xt::argmax(share)());
  for (std::size_t i = 0; i < 30; ++i) {
    const Index is = classes[2 * i + 1];
    expected.right += xt::argmax(xt::row(found, static_cast<std::ptrdiff_t>(i)))() == usize(is);
    expected.most_frequent += is == frequent;
  }
  const ProbeCounts counts = RidgeProbe(vectors, ridge).ask(classes);
  BOOST_TEST(counts.right == expected.right);
  BOOST_TEST(counts.right > 20);
  BOOST_TEST(counts.most_frequent == expected.most_frequent);
  BOOST_TEST(counts.all == 30);
  const ProbeCounts fewer = RidgeProbe(vectors, ridge, 3).ask(classes);
  BOOST_TEST(fewer.all == 30);
  BOOST_TEST(fewer.right < counts.right);
}

BOOST_AUTO_TEST_CASE(
    a_class_that_nobody_taught_is_wrong_and_equal_vectors_teach_the_most_frequent) {
  const Vectors one_hot{2, {1, 0, 1, 0, 0, 1, 0, 1}};
  const ProbeCounts counts = RidgeProbe(one_hot, 1e-3).ask({4, 4, 6, 9});
  BOOST_TEST(counts.right == 1);
  BOOST_TEST(counts.all == 2);
  const ProbeCounts even = RidgeProbe({1, {1, 1, 1, 1, 1, 1}}, 0.1).ask({0, 1, 1, 1, 1, 1});
  BOOST_TEST(even.right == 3);
  BOOST_TEST(even.right == even.most_frequent);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace softalign
