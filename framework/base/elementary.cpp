#include "framework/base/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace softalign::exact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The number high + low; |low| is at most half a unit in the last place of high. Algorithms: Dekker (1971), Knuth.
struct Pair {
  double high, low = 0;
};

Pair fast_sum(double a, double b) {  // |a| >= |b|, or a = 0
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

Pair sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

Pair product(double a, double b) {
  const double high = a * b;
  return {high, std::fma(a, b, -high)};
}

Pair operator+(Pair a, Pair b) {
  Pair s = sum(a.high, b.high);
  const Pair t = sum(a.low, b.low);
  s = fast_sum(s.high, s.low + t.high);
  return fast_sum(s.high, s.low + t.low);
}

Pair operator-(Pair a) { return {-a.high, -a.low}; }

Pair operator*(Pair a, Pair b) {
  const Pair p = product(a.high, b.high);
  return fast_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

Pair operator/(Pair a, double b) {
  const double high = a.high / b;
  return fast_sum(high, (std::fma(-high, b, a.high) + a.low) / b);
}

Pair operator/(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair rest = a + -(b * Pair{first}), second{rest.high / b.high};
  const Pair third = rest + -(b * second);
  return fast_sum(first, second.high) + Pair{third.high / b.high};
}

// ln 2, pi / 2: the leading parts have few bits, so that an integer times one of them is exact.
constexpr double kLn2[] = {0x1.62e42fefa4p-1, -0x1.8432a1b0e4p-43, 0x1.9cc01f97b57a0p-83};
constexpr double kHalfPi[] = {
    0x1.921fb5p+0, 0x1.110b46p-26, 0x1.1a6263p-54, 0x1.8a2e03p-81, 0x1.c1cd129024e08p-107};

// Rounds to odd: the neighbour of x, or x itself, whose last bit is odd. Further rounding or addition then gives the
// result for the exact x, which rounding to nearest would not in case of a tie.
double rounded_to_odd(Pair x) {
  auto bits = std::bit_cast<std::uint64_t>(x.high);
  if (x.low != 0 && bits % 2 == 0) bits = (x.low > 0) == (x.high > 0) ? bits + 1 : bits - 1;
  return std::bit_cast<double>(bits);
}

// Returns m in [sqrt(1/2), sqrt(2)) with x = 2^exponent m; x > 0, finite.
double split(double x, int& exponent) {
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --exponent;
  }
  return m;
}

// ln x, by ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
Pair log_of(double x) {
  int exponent = 0;
  const double m = split(x, exponent);
  const Pair s = sum(m, -1) / sum(m, 1), square = s * s;
  constexpr int kTerms = 22;
  Pair series{};
  for (int n = kTerms; n >= 0; --n) series = series * square + Pair{1} / (2.0 * n + 1);
  series = s * series;
  const double e = exponent;
  const Pair twice{2 * series.high, 2 * series.low};
  return Pair{e * kLn2[0]} + (Pair{e * kLn2[1]} + (twice + product(e, kLn2[2])));
}

// ln x with an error below 2^-66, in a tenth of the time: c is the nearest of 128 numbers per octave,
// ln m = ln c + r - r^2 / 2 + r^3 / 3 - ..., r = (m - c) / c, |r| < 0.0056.
Pair quick_log_of(double x) {
  constexpr int kSteps = 128, kFirst = 90, kLast = 182;
  struct Logarithms {
    Pair of[kLast - kFirst];
    Logarithms() {
      for (int i = kFirst; i < kLast; ++i) of[i - kFirst] = log_of(static_cast<double>(i) / kSteps);
    }
  };
  static const Logarithms logarithms;
  int exponent = 0;
  const double m = split(x, exponent);
  const int nearest = static_cast<int>(m * kSteps + 0.5);
  const double c = static_cast<double>(nearest) / kSteps, e = exponent;
  const Pair r = Pair{m - c} / c, square = r * r;
  double series = 0;
  for (int n = 11; n > 2; --n) series = 1.0 / n - r.high * series;
  const double cube = r.high * square.high * series;
  return Pair{e * kLn2[0]} + (Pair{e * kLn2[1]} + logarithms.of[nearest - kFirst]) +
         (r + Pair{-square.high / 2, -square.low / 2} + Pair{cube + e * kLn2[2]});
}

// e^x rounded, for x where the result is neither zero nor infinite.
double exp_of(Pair x) {
  const double n = std::floor(x.high * 0x1.71547652b82fep+0 + 0.5);
  const Pair r = ((x + Pair{-n * kLn2[0]}) + Pair{-n * kLn2[1]}) + -product(n, kLn2[2]);
  // e^r = (e^(r / 256))^256; expm1 of a small number keeps more bits than exp of it.
  const Pair small{r.high / 256, r.low / 256};
  constexpr int kTerms = 10;
  Pair series{1};
  for (int k = kTerms; k > 1; --k) series = Pair{1} + series * small / static_cast<double>(k);
  series = series * small;
  for (int i = 0; i < 8; ++i) series = Pair{2 * series.high, 2 * series.low} + series * series;
  const Pair value = fast_sum(1, series.high);
  const double rest = rounded_to_odd(sum(value.low, series.low));
  return std::ldexp(value.high + rest, static_cast<int>(n));
}

struct SineAndCosine {
  Pair sine, cosine;
};

// Sine and cosine of r, |r| <= pi / 4.
SineAndCosine by_series(Pair r) {
  const Pair square = -(r * r);
  Pair sine{1}, cosine{1};
  for (int k = 15; k > 0; --k) {
    sine = Pair{1} + sine * square / (2.0 * k * (2.0 * k + 1));
    cosine = Pair{1} + cosine * square / (2.0 * k * (2.0 * k - 1));
  }
  return {r * sine, cosine};
}

// Returns the sine (turn 0) or the cosine (turn 1) of x.
double circular(double x, int turn) {
  if (!(std::fabs(x) <= 1e7)) return kNan;
  if (x == 0) return turn == 0 ? x : 1;
  const double n = std::floor(x * 0x1.45f306dc9c883p-1 + 0.5);
  Pair r{x};
  for (int part = 0; part < 4; ++part) r = r + Pair{-n * kHalfPi[part]};
  r = r + -product(n, kHalfPi[4]);
  const int quarter = static_cast<int>((static_cast<std::int64_t>(n) + turn) & 3);
  const SineAndCosine of = by_series(r);
  const Pair value = quarter % 2 == 0 ? of.sine : of.cosine;
  const double rounded = value.high + value.low;
  return quarter < 2 ? rounded : -rounded;
}

enum class Parity { none, even, odd };
Parity parity_of(double y) {
  if (y != std::floor(y)) return Parity::none;
  const double half = y / 2;
  return half == std::floor(half) ? Parity::even : Parity::odd;
}

// x^y rounded, for x > 0, finite.
double pow_of(double x, double y) {
  // Small integer powers may be exact or midpoints; rounding needs to know, so they are multiplied.
  if (y == std::floor(y) && y >= 0 && y <= 4096) {
    int exponent = 0;  // split off only for powers that can be exact; most larger ones are not
    Pair value{1}, square{y <= 64 ? split(x, exponent) : x};
    for (auto left = static_cast<unsigned>(y); left > 0; left /= 2) {
      if (left % 2 == 1) value = value * square;
      if (left > 1) square = square * square;
    }
    if (value.high > 0x1p-900 && value.high < 0x1p900)
      return std::ldexp(value.high + value.low, exponent * static_cast<int>(y));
  }
  const Pair log = log_of(x);
  if (log.high * y > 710) return kInfinity;
  if (log.high * y < -746) return 0;
  return exp_of(product(log.high, y) + Pair{log.low * y});
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  return exp_of({x});
}

double log(double x) {
  if (x != x || x == kInfinity) return x;
  if (x < 0) return kNan;
  if (x == 0) return -kInfinity;
  const Pair quick = quick_log_of(x);
  const double error = 0x1p-64 * std::fabs(quick.high), low = quick.high + (quick.low - error),
               high = quick.high + (quick.low + error);
  if (low == high) return low;
  const Pair value = log_of(x);
  return value.high + value.low;
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNan;
  const Parity parity = parity_of(y);
  const double magnitude = std::fabs(x);
  if (std::fabs(y) == kInfinity)
    return magnitude == 1 ? 1 : (magnitude > 1) == (y > 0) ? kInfinity : 0;
  const double value = magnitude == 0 || magnitude == kInfinity
                           ? ((magnitude == 0) == (y > 0) ? 0 : kInfinity)
                           : pow_of(magnitude, y);
  if (!std::signbit(x)) return value;
  if (parity == Parity::none && x != 0 && magnitude != kInfinity) return kNan;
  return parity == Parity::odd ? -value : value;
}

double sin(double x) { return circular(x, 0); }
double cos(double x) { return circular(x, 1); }

// A result in double precision and its error bound determine the rounding, except for a few arguments in 2^28.
float log(float x) {
  constexpr double kError = 0x1p-48;
  const double number = x;
  if (!(number > 0) || number == kInfinity) return static_cast<float>(log(number));
  int exponent = 0;
  const double m = split(number, exponent), s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int n = 10; n >= 0; --n) series = series * square + 1.0 / (2 * n + 1);
  const double value = exponent * 0x1.62e42fefa39efp-1 + 2 * s * series;
  const auto low = static_cast<float>(value * (1 - kError)),
             high = static_cast<float>(value * (1 + kError));
  return low == high ? low : static_cast<float>(rounded_to_odd(log_of(number)));
}

}  // namespace softalign::exact
