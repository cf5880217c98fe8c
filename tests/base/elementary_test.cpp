// The elementary functions against MPFR, whose results are correctly rounded.
#include <mpfr.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/base/elementary.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

using namespace softalign;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

// MPFR's results, rounded to `digits` bits.
class Reference {
 public:
  explicit Reference(int digits) {
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 53);
    mpfr_init2(result_, digits);
  }
  ~Reference() {
    mpfr_clears(x_, y_, result_, static_cast<mpfr_ptr>(nullptr));
    mpfr_free_cache();
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  double operator()(int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t), double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    f(result_, x_, MPFR_RNDN);
    return mpfr_get_d(result_, MPFR_RNDN);
  }
  double power(double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    mpfr_pow(result_, x_, y_, MPFR_RNDN);
    return mpfr_get_d(result_, MPFR_RNDN);
  }

 private:
  mpfr_t x_, y_, result_;
};

#ifdef SOFTALIGN_SANITIZE
constexpr std::uint64_t kStep = 997;  // every 997th float, because each takes ten times as long
#else
constexpr std::uint64_t kStep = 1;
#endif

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}

struct Function {
  const char* name;
  double (*ours)(double);
  int (*mpfr)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  double low, high;  // the range of random arguments
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all{{"exp", exact::exp, mpfr_exp, -708, 709},
                                         {"log", exact::log, mpfr_log, 0, 1e6},
                                         {"sin", exact::sin, mpfr_sin, -1e7, 1e7},
                                         {"cos", exact::cos, mpfr_cos, -1e7, 1e7}};
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elementary_suite)

BOOST_AUTO_TEST_CASE(functions_of_one_number_are_correctly_rounded) {
  Reference reference(53);
  for (const Function& f : functions()) {
    const RandomStream stream(7, f.name);
    int wrong = 0;
    const auto check = [&](double x) {
      if (same(f.ours(x), reference(f.mpfr, x))) return;
      if (++wrong < 4) BOOST_ERROR(f.name << " of " << x << ": " << f.ours(x));
    };
    for (std::uint64_t i = 0; i < 30'000; ++i) {
      check(f.low + (f.high - f.low) * stream.uniform(3 * i));
      // Small numbers, and numbers around one.
      const double small = std::ldexp(stream.uniform(3 * i + 1), -static_cast<int>(i % 60));
      check(small);
      check(1 + small);
      if (f.low < 0) check(-small);
    }
  }
}

// Arguments whose sine or cosine is nearly zero, and the known worst cases of exp and log, whose results are nearest to
// the midpoint of two doubles (Lefevre and Muller).
BOOST_AUTO_TEST_CASE(hard_arguments_are_correctly_rounded) {
  Reference reference(53);
  for (const double x : {0x1.fffffffffffffp-1,
                         0x1.0000000000001p+0,
                         0x1.9e9cbbfd6080bp-31,
                         0x1.83d4bcdebb3f4p+2,
                         0x1.a2fefefd580dfp-13,
                         0x1.2f6cb5d1bd7ep-1,
                         0x1.62f71c4656b61p-1,
                         0x1.dd44ce7ad0f1ep+104}) {
    BOOST_TEST(same(exact::log(x), reference(mpfr_log, x)), "log of " << x);
    if (x < 700) BOOST_TEST(same(exact::exp(x), reference(mpfr_exp, x)), "exp of " << x);
  }
  for (int n = 1; n < 100'000; n += 7)
    for (const double shift : {0.0, 1e-9}) {
      const double x = n * 1.5707963267948966 + shift;
      BOOST_REQUIRE(same(exact::sin(x), reference(mpfr_sin, x)));
      BOOST_REQUIRE(same(exact::cos(x), reference(mpfr_cos, x)));
    }
}

BOOST_AUTO_TEST_CASE(powers_are_correctly_rounded) {
  Reference reference(53);
  const RandomStream stream(8, "pow");
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    const double x = stream.uniform(2 * i) * (i % 3 == 0 ? 1000 : 1),
                 y = (stream.uniform(2 * i + 1) - 0.3) * 20;
    BOOST_REQUIRE(same(exact::pow(x, y), reference.power(x, y)));
    const auto n = static_cast<double>(i % 5000);
    const double near_one = 1 - x / 10'000;
    BOOST_TEST_REQUIRE(same(exact::pow(near_one, n), reference.power(near_one, n)),
                       near_one << " to the power of " << n);
  }
  for (const auto& [x, y] : {std::pair{0x1.fffffffffffffp-1, 0.5},
                             {0x1.ffffffffffffep-1, 0.25},
                             {0x1.fffffffffffffp-1, 1.5}})  // arguments next to one
    BOOST_TEST(same(exact::pow(x, y), reference.power(x, y)), x << " to the power of " << y);
  BOOST_TEST(exact::exp(0x1p-53) == 0x1.0000000000001p+0);
  // Results that are exact, or the midpoint of two doubles.
  for (int x = (1 << 27) - 2001; x < 1 << 27; x += 2)
    for (const int scale : {-500, 0, 460})
      BOOST_REQUIRE(
          same(exact::pow(std::ldexp(x, scale), 2), reference.power(std::ldexp(x, scale), 2)));
  for (int x = 1; x < 2000; x += 3)
    for (int y = -8; y < 9; ++y)
      for (const double scale : {1.0, 0.125, 67108864.0 + 1})
        BOOST_REQUIRE(same(exact::pow(x * scale, y), reference.power(x * scale, y)));
}

BOOST_AUTO_TEST_CASE(special_numbers_are_as_in_c) {
  const double special[] = {0.0,
                            -0.0,
                            1,
                            -1,
                            2,
                            -2,
                            0.5,
                            -0.5,
                            3,
                            -3,
                            1e308,
                            -1e308,
                            5e-324,
                            kInfinity,
                            -kInfinity,
                            kNan};
  for (const double x : special) {
    const auto check = [&](double ours,
                           double of_c) {  // the C library may round its other results differently
      if (of_c == 0 || std::fabs(of_c) == 1 || !std::isfinite(of_c)) BOOST_TEST(same(ours, of_c));
    };
    BOOST_TEST_CONTEXT(x) {
      check(exact::exp(x), std::exp(x));
      check(exact::log(x), std::log(x));
      for (const double y : special) BOOST_TEST_CONTEXT(y) {
          check(exact::pow(x, y), std::pow(x, y));
        }
    }
  }
  BOOST_TEST(same(exact::sin(-0.0), -0.0));
  BOOST_TEST(exact::cos(0.0) == 1);
  BOOST_TEST(std::isnan(exact::sin(1e300)));
}

// All floats, checked by the C library's double result, or by MPFR if that lies next to the midpoint of two floats.
BOOST_AUTO_TEST_CASE(the_logarithm_of_every_float_is_correctly_rounded) {
  Reference reference(24);
  const std::uint64_t end = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  std::uint64_t wrong = 0;
  for (std::uint64_t bits = 1; bits < end; bits += kStep) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double value = std::log(static_cast<double>(x));
    const auto low = static_cast<float>(value * (1 - 0x1p-50)),
               high = static_cast<float>(value * (1 + 0x1p-50));
    const float expected = low == high ? low : static_cast<float>(reference(mpfr_log, x));
    if (exact::log(x) != expected && ++wrong < 4) BOOST_ERROR("log of " << x);
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(std::isnan(exact::log(-1.0F)));
  BOOST_TEST(exact::log(0.0F) == -std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_SUITE_END()
