// The importance of a sweep's parameters, against NumPy's least squares, and sweeps that have no importance.
#include "framework/analysis/importance.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace softalign;
namespace {

// Settings and values made as in these lines of Python; numpy.linalg.lstsq gives the shares (rss: with an intercept):
//   y = 3 (a == 1) - 2 (b == "y") (a == 2) + log(lr) + 0.3 sin(1.7 i)
//   share of a = (rss(b, lr) - rss(a, b, lr)) / rss();   of a and b = (rss(a, b, lr) - rss(a, b, lr, a b)) / rss()
// where a and b are indicators of all their values except the first, and lr is log(lr) and its square, centred.
struct Made {
  std::vector<Difference> settings;
  std::vector<double> values;

  Made() {
    const std::vector<int> a = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2,
                                0, 1, 1, 2, 2, 0, 1, 0, 2, 0, 1, 1};
    const std::string b = "xyxyxyxxyyxxyyxyxyxxyxyx";
    const std::vector<std::string> rates = {"0.001", "0.002", "0.004", "0.008", "0.016", "0.001",
                                            "0.002", "0.004", "0.008", "0.016", "0.032", "0.001",
                                            "0.002", "0.004", "0.008", "0.016", "0.032", "0.001",
                                            "0.002", "0.004", "0.008", "0.016", "0.032", "0.001"};
    for (std::size_t i = 0; i < a.size(); ++i) {
      settings.push_back({{"seed", std::to_string(i)},
                          {"a", std::to_string(a[i])},
                          {"b", std::string(1, b[i])},
                          {"lr", rates[i]}});
      values.push_back((a[i] == 1 ? 3 : 0) - (b[i] == 'y' && a[i] == 2 ? 2 : 0) +
                       std::log(std::stod(rates[i])) +
                       0.3 * std::sin(static_cast<double>(i) * 1.7));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(importance)

BOOST_AUTO_TEST_CASE(shares_are_those_of_numpy) {
  const Made made;
  const Importance found = importance_of(made.settings, made.values).value();
  BOOST_TEST(found.runs == 24);
  const auto near = boost::test_tools::tolerance(1e-9);
  BOOST_TEST(found.explained == 0.9552987120672306, near);
  const std::vector<std::pair<std::vector<std::string>, double>> expected = {
      {{"a"}, 0.546477147996832},
      {{"lr"}, 0.2609635900339317},
      {{"b"}, 0.01022199257455137},
      {{"a", "b"}, 0.037707797436540305},
      {{"a", "lr"}, 0.004844681538625153},
      {{"b", "lr"}, 0.000945647612375961}};
  BOOST_REQUIRE(found.effects.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST(found.effects[i].parameters == expected[i].first);
    BOOST_TEST(found.effects[i].share == expected[i].second, near);
  }
}

BOOST_AUTO_TEST_CASE(a_balanced_design_adds_up) {
  std::vector<Difference> settings;
  std::vector<double> values;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int again = 0; again < 2; ++again) {
        settings.push_back({{"a", std::to_string(a)}, {"b", std::to_string(b)}});
        values.push_back(2 * a + b + (again == 0 ? 0.5 : -0.5));
      }
  // Sums of squares: a 12, b 8, residual 3.
  const Importance found = importance_of(settings, values).value();
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(found.explained == 20. / 23, near);
  BOOST_REQUIRE(found.effects.size() == 3u);
  BOOST_TEST(found.effects[0].share == 12. / 23, near);
  BOOST_TEST(found.effects[1].share == 8. / 23, near);
  BOOST_TEST(std::abs(found.effects[2].share) < 1e-12);
}

BOOST_AUTO_TEST_CASE(there_is_none_of_too_few_runs_or_parameters) {
  Made made;
  BOOST_TEST(!importance_of({}, {}));
  BOOST_TEST(!importance_of({made.settings.begin(), made.settings.begin() + 11},
                            {made.values.begin(), made.values.begin() + 11}));
  BOOST_TEST(!importance_of(made.settings, std::vector<double>(24, 1.5)));
  for (Difference& one : made.settings) one = {{"a", one[1].second}};
  BOOST_TEST(!importance_of(made.settings, made.values));
}

// The difference between a model with and without a score is attributed to the attention.
BOOST_AUTO_TEST_CASE(what_a_plugin_leaves_out_counts_for_the_plugin) {
  std::vector<Difference> settings;
  std::vector<double> values;
  for (const std::string score : {"", "additive", "dot"})
    for (const double seed : {-0.25, 0., 0.25}) {
      settings.push_back({{"attention.type", score.empty() ? "none" : "global"}});
      if (!score.empty()) settings.back().emplace_back("attention.score.type", score);
      values.push_back((score.empty() ? 0 : score == "dot" ? 2.5 : 3.5) + seed);
    }
  const Importance found = importance_of(settings, values).value();
  const auto near = boost::test_tools::tolerance(1e-12);
  // Sums of squares: attention, means 0 and 3 over 3 and 6 runs, 18; score 1.5; seeds 0.375.
  BOOST_REQUIRE(found.effects.size() == 2u);  // no interaction of a plugin with its own options
  BOOST_TEST(found.effects[0].parameters.front() == "attention.type");
  BOOST_TEST(found.effects[0].share == 18 / 19.875, near);
  BOOST_TEST(found.effects[1].parameters.front() == "attention.score.type");
  BOOST_TEST(found.effects[1].share == 1.5 / 19.875, near);
}

// A missing option counts as a level of its own, "".
BOOST_AUTO_TEST_CASE(an_option_that_is_not_set_is_a_level) {
  Made made;
  for (std::size_t i = 0; i < made.settings.size(); ++i)
    if (i % 2 == 0) made.settings[i].erase(made.settings[i].begin() + 2);
  BOOST_TEST(importance_of(made.settings, made.values).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
