// Mean curves over seeds, as pages and figures draw them.
#include "framework/analysis/report_curves.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace softalign;

BOOST_AUTO_TEST_SUITE(mean_curves)

BOOST_AUTO_TEST_CASE(a_point_is_the_mean_of_the_runs_that_have_a_value_there) {
  const MeanCurve curve = mean_curve({{{10, 20, 30}, {4, 2, 1}}, {{20, 10}, {4, 2}}});
  BOOST_TEST(curve.at == std::vector<double>({10, 20, 30}));
  BOOST_TEST(curve.mean == std::vector<double>({3, 3, 1}));
  BOOST_TEST(curve.seeds == std::vector<Index>({2, 2, 1}));
  BOOST_TEST(curve.least == std::vector<double>({2, 2, 1}));
  BOOST_TEST(curve.most == std::vector<double>({4, 4, 1}));
  BOOST_TEST(curve.deviation[0] == std::sqrt(2.0));
  BOOST_TEST(std::isnan(curve.deviation[2]));  // a single value has no deviation
}

BOOST_AUTO_TEST_CASE(what_is_no_number_or_squares_to_none_is_no_value) {
  const MeanCurve curve = mean_curve({{{1, 2, 3, 4}, {kUndefined, 1e200, -HUGE_VAL, 5}}});
  BOOST_TEST(curve.at == std::vector<double>({4}));
  BOOST_TEST(mean_curve({}).at.empty());
}

BOOST_AUTO_TEST_CASE(a_long_curve_is_thinned_to_its_ends) {
  Points run;
  for (int i = 0; i < 5000; ++i) {
    run.at.push_back(i);
    run.values.push_back(i);
  }
  const MeanCurve curve = mean_curve({run});
  BOOST_TEST(curve.at.size() == kDrawnPoints);
  BOOST_TEST(curve.at.front() == 0);
  BOOST_TEST(curve.at.back() == 4999);
}

BOOST_AUTO_TEST_CASE(successive_values_become_their_mean_at_the_last_of_them) {
  const Points made = smoothed({{1, 2, 3, 4, 5, 6}, {8, 6, kUndefined, 4, 2, 9}}, 2);
  BOOST_TEST(made.at == std::vector<double>({2, 5}));
  BOOST_TEST(made.values == std::vector<double>({7, 3}));
}

BOOST_AUTO_TEST_SUITE_END()
