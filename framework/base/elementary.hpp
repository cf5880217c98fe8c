// Elementary functions whose bits are the same on every computer: the C library's differ between versions,
// makers and processors. Computed from + - * / and fma of numbers of twice the precision (an error below 2^-90)
// and rounded once: the result is the correctly rounded one; no other is known to come out, but of fractional
// powers that lie exactly in the middle between two numbers. Results below the normal numbers are rounded
// twice. About 100 ns a call: for single numbers. What is computed in bulk is in kernels/vector_math.hpp.
// Signs, zeros, infinities and NaN are as C has them (ISO C, annex F).
#pragma once

namespace softalign::exact {

double exp(double x);
double log(double x);
double pow(double x, double y);
double sin(double x);  // |x| <= 1e7, else NaN
double cos(double x);

// As fast as the C library's, but for a few arguments in 2^28.
float log(float x);

}  // namespace softalign::exact
