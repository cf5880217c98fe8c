#include "framework/kernels/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "framework/base/elementary.hpp"

namespace softalign::kernels {
namespace {

constexpr double kRootHalf = 0x1.6a09e667f3bcdp-1;  // sqrt(1/2)
constexpr double kRootPi = 0x1.20dd750429b6dp-1;    // 1 / sqrt(pi)
constexpr double kDensity = 0x1.9884533d43651p-2;   // phi(0) = 1 / sqrt(2 pi)

// Returns the sum of c_i x^i; coefficients: highest power first.
double polynomial(std::span<const double> coefficients, double x) {
  double sum = 0;
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

// Cody (1969), "Rational Chebyshev approximations for the error function", Mathematics of Computation 23: erf for
// x <= 0.46875, e^(x²) erfc(x) up to 4, and beyond.
constexpr double kErfP[] = {1.85777706184603153e-1,
                            3.16112374387056560e0,
                            1.13864154151050156e2,
                            3.77485237685302021e2,
                            3.20937758913846947e3};
constexpr double kErfQ[] = {
    1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3};
constexpr double kMiddleP[] = {2.15311535474403846e-8,
                               5.64188496988670089e-1,
                               8.88314979438837594e0,
                               6.61191906371416295e1,
                               2.98635138197400131e2,
                               8.81952221241769090e2,
                               1.71204761263407058e3,
                               2.05107837782607147e3,
                               1.23033935479799725e3};
constexpr double kMiddleQ[] = {1,
                               1.57449261107098347e1,
                               1.17693950891312499e2,
                               5.37181101862009858e2,
                               1.62138957456669019e3,
                               3.29079923573345963e3,
                               4.36261909014324716e3,
                               3.43936767414372164e3,
                               1.23033935480374942e3};
constexpr double kFarP[] = {1.63153871373020978e-2,
                            3.05326634961232344e-1,
                            3.60344899949804439e-1,
                            1.25781726111229246e-1,
                            1.60837851487422766e-2,
                            6.58749161529837803e-4};
constexpr double kFarQ[] = {1,
                            2.56852019228982242e0,
                            1.87295284992346725e0,
                            5.27905102951428412e-1,
                            6.05183413124413191e-2,
                            2.33520497626869185e-3};

// e^(x²/2) (1 - Phi(x)), x >= 0.
double scaled_tail(double x) { return scaled_erfc(x * kRootHalf) / 2; }

double tail(double x) { return std::isinf(x) ? 0 : exact::exp(-x * x / 2) * scaled_tail(x); }

}  // namespace

double scaled_erfc(double x) {
  if (x <= 0.46875) {
    const double square = x * x;
    return exact::exp(square) * (1 - x * polynomial(kErfP, square) / polynomial(kErfQ, square));
  }
  if (x <= 4) return polynomial(kMiddleP, x) / polynomial(kMiddleQ, x);
  const double y = 1 / (x * x);
  return (kRootPi - y * polynomial(kFarP, y) / polynomial(kFarQ, y)) / x;
}

IntervalMass interval_mass(double a, double b) {
  if (std::isinf(a) && std::isinf(b)) return {0, 0, 0};
  if (a + b < 0) {  // the mirror image, nearer to the right tail
    const IntervalMass mirrored = interval_mass(-b, -a);
    return {mirrored.log, mirrored.upper, mirrored.lower};
  }
  // Densities at a and b and the mass, divided by e^(-a²/2) if a >= 0. The mass is at least gap * the lower density.
  const double square = a < 0 ? 0 : a * a, gap = b - a;
  const double at_a = a < 0 ? exact::exp(-a * a / 2) : 1;
  const double at_b = std::isinf(b) ? 0
                      : a < 0       ? exact::exp(-b * b / 2)
                                    : exact::exp(-gap * (a + b) / 2);
  const double mass =
      a < 0 ? 1 - tail(-a) - tail(b) : scaled_tail(a) - (at_b > 0 ? at_b * scaled_tail(b) : 0);
  const double least = at_b > 0 ? kDensity * gap * at_b : 0,
               scaled = std::max({mass, least, std::numeric_limits<double>::min()});
  return {exact::log(scaled) - square / 2, kDensity * at_a / scaled, kDensity * at_b / scaled};
}

}  // namespace softalign::kernels
