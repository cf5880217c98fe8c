// Probabilities of intervals against integrals (tests/reference/gaussian.py), and against sums over parts.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/kernels/gaussian.hpp"

using namespace softalign;
using kernels::interval_mass;
using kernels::IntervalMass;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool near(double found, double wanted, double tolerance) {
  return std::abs(found - wanted) <= tolerance * std::max(1.0, std::abs(wanted));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gaussian)

BOOST_AUTO_TEST_CASE(masses_are_integrals_of_the_density) {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/reference/gaussian.json");
  const auto expected = nlohmann::json::parse(file);
  for (const auto& point : expected["scaled_erfc"]) {
    const double x = point[0], wanted = point[1];
    BOOST_TEST(std::abs(kernels::scaled_erfc(x) / wanted - 1) < 4e-15, x);
  }
  BOOST_TEST(expected["intervals"].size() > 40u);
  for (const auto& one : expected["intervals"]) {
    const double a = one[0].is_null() ? -kInfinity : one[0].get<double>(),
                 b = one[1].is_null() ? kInfinity : one[1].get<double>();
    const IntervalMass mass = interval_mass(a, b);
    BOOST_TEST_CONTEXT(a << " to " << b) {
      BOOST_TEST(near(mass.log, one[2], 1e-12), mass.log << " instead of " << one[2]);
      BOOST_TEST(near(mass.lower, one[3], 2e-12), mass.lower << " instead of " << one[3]);
      BOOST_TEST(near(mass.upper, one[4], 2e-12), mass.upper << " instead of " << one[4]);
    }
  }
}

BOOST_AUTO_TEST_CASE(masses_of_a_division_of_the_line_sum_to_1) {
  for (const double shift : {-30.0, -2.0, 0.1, 25.0}) {
    double sum = 0, before = -kInfinity;
    for (int k = -40; k <= 41; ++k) {
      const double edge = k > 40 ? kInfinity : 0.3 * k + shift;
      sum += std::exp(interval_mass(before, edge).log);
      before = edge;
    }
    BOOST_TEST(std::abs(sum - 1) < 1e-14, shift);
  }
}

BOOST_AUTO_TEST_CASE(mirrored_intervals_have_the_same_bits) {
  for (const auto& [a, b] : {std::pair(-0.2, 0.7), {3.0, 3.1}, {80.0, 81.0}, {-1.0, kInfinity}}) {
    const IntervalMass mass = interval_mass(a, b), mirrored = interval_mass(-b, -a);
    BOOST_TEST(mass.log == mirrored.log);
    BOOST_TEST(mass.lower == mirrored.upper);
    BOOST_TEST(mass.upper == mirrored.lower);
  }
}

// With a huge deviation, intervals are narrower than the rounding of Phi.
BOOST_AUTO_TEST_CASE(the_narrowest_intervals_have_their_density) {
  for (const double a : {0.0, 0.3, 4.0}) {
    const double gap = 0x1p-48, density = std::exp(-a * a / 2) / std::sqrt(2 * std::acos(-1.0));
    const IntervalMass mass = interval_mass(a, a + gap);
    BOOST_TEST(std::abs(mass.log - std::log(gap * density)) < 0.2, a);
    BOOST_TEST(std::isfinite(interval_mass(a, std::nextafter(a, kInfinity)).lower));
  }
}

BOOST_AUTO_TEST_SUITE_END()
