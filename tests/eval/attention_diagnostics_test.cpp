#include "framework/eval/attention_diagnostics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/error.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(attention_diagnostics)

BOOST_AUTO_TEST_CASE(entropy_of_sharp_even_and_mixed_rows) {
  const double tolerance = 1e-6;  // the weights may be float
  BOOST_TEST(entropy(std::vector<real>{0, 1, 0}) == 0.0);
  BOOST_TEST(std::abs(entropy(std::vector<real>(8, real{0.125})) - std::log(8.0)) < tolerance);
  BOOST_TEST(std::abs(entropy(std::vector<real>{0.5, 0.25, 0.25}) - 1.5 * std::log(2.0)) <
             tolerance);
}

BOOST_AUTO_TEST_CASE(equals_share_the_largest_weight) {
  using Positions = std::vector<Index>;
  BOOST_TEST((points_at(std::vector<real>{0.1f, 0.5f, 0.4f, 0}) == Positions{1}));
  BOOST_TEST((points_at(std::vector<real>{0.1f, 0.4f, 0.4f, 0.1f}) == Positions{1, 2}));
  BOOST_TEST((points_at(std::vector<real>{0.5f, 0.5f, 0}) == Positions{0, 1}));
  BOOST_TEST(points_at(std::vector<real>{0.5f, 0.5f}).empty());
  BOOST_TEST(points_at(std::vector<real>{0, 0}).empty());
  BOOST_TEST((points_at(std::vector<real>{1}) == Positions{0}));
  BOOST_CHECK_THROW(points_at(std::vector<real>{}), Error);
}

BOOST_AUTO_TEST_CASE(pointing_counts_target_tokens_that_have_a_sure_link) {
  const std::vector<std::vector<Index>> pointed{{4}, {0}, {2}, {1}, {5, 6}, {5, 6}, {}};
  const std::vector<Link> links{
      {2, 2, true},   // hit
      {3, 0, true},   // token 0 has two sure links; the weight is at the other one
      {4, 0, true},   // hit
      {0, 1, false},  // only possible: token 1 does not count
      {3, 3, true},   // missed
      {1, 3, false},  // pointed at, but only possible
      {6, 4, true},   // hit: both positions are linked
      {5, 4, true},
      {5, 5, true},  // missed: one of the two is not linked
      {0, 6, true},  // missed: it points nowhere
  };
  const Count count = point_count(pointed, links);
  BOOST_TEST(count.hits == 3);
  BOOST_TEST(count.total == 6);
  BOOST_TEST(point_count(pointed, {}).total == 0);
  BOOST_CHECK_THROW(point_count(pointed, std::vector<Link>{{0, 7, true}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
