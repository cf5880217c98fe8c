// Principal components against NumPy's.
#include "framework/inference/states.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace softalign;

BOOST_AUTO_TEST_SUITE(states)

// x = sin(1.3 i + 0.7 j^2) + 0.5 i (j == 2), numpy.linalg.svd(x - x.mean(0)): s^2 / sum(s^2), and u s.
BOOST_AUTO_TEST_CASE(components_are_those_of_numpy) {
  xt::xtensor<double, 2> x({6, 4});
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const auto a = static_cast<double>(i), b = static_cast<double>(j);
      x(i, j) = std::sin(1.3 * a + 0.7 * b * b) + (j == 2 ? 0.5 * a : 0);
    }
  const PrincipalComponents found = principal_components(x, 2);
  const std::vector<double> explained = {0.800952404740806, 0.1662031458030613};
  const std::vector<std::vector<double>> vectors = {{-0.8901107686864541, -0.16523917479604538},
                                                    {-2.218551407649626, 0.22891222230221292},
                                                    {-1.1316445291472326, -0.5149100843204972},
                                                    {1.3558928892943956, -0.905214674770058},
                                                    {2.1774168478095923, 0.031585588450064005},
                                                    {0.7069969683793245, 1.3248661231343246}};
  const auto near = boost::test_tools::tolerance(1e-10);
  BOOST_REQUIRE(found.explained.size() == 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    BOOST_TEST(found.explained[k] == explained[k], near);
    for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(found.vectors(i, k) == vectors[i][k], near);
  }
}

BOOST_AUTO_TEST_CASE(one_vector_explains_nothing) {
  const PrincipalComponents found = principal_components(xt::ones<double>({1, 3}), 2);
  BOOST_REQUIRE(found.explained.size() == 1u);
  BOOST_TEST(found.explained[0] == 0);
  BOOST_TEST(found.vectors(0, 0) == 0);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_refused) {
  const xt::xtensor<double, 2> x = {{1., 2.}, {std::nan(""), 0.}};
  BOOST_CHECK_THROW(principal_components(x, 1), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
