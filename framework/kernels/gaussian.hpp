// The logarithm of the mass of an interval under the standard normal distribution, accurate even in the tails, where
// differences of Phi are 0. Its bits are the same on every machine.
#pragma once

namespace softalign::kernels {

// e^(x²) erfc(x) for x >= 0, with a relative error of about 1e-15: Cody's rational approximations (1969).
double scaled_erfc(double x);

struct IntervalMass {
  double log;    // log(Phi(b) - Phi(a))
  double lower;  // phi(a) / mass: the derivative of log by a is -lower
  double upper;  // phi(b) / mass: the derivative of log by b is upper
};

// a < b, either may be infinite. phi and Phi are the density and the distribution function. The error of log is
// about 1e-15 / min(1, b - a).
IntervalMass interval_mass(double a, double b);

}  // namespace softalign::kernels
