// Elementary functions with the same bits on every machine: the results of C libraries differ between versions,
// vendors and processors. Results are computed with + - * / and fma in twice the precision (an error below 2^-90)
// and rounded once, correctly; the only known exceptions are fractional powers exactly in the middle between two
// numbers. Subnormal results are rounded twice. A call takes about 100 ns; for bulk computations, see
// kernels/vector_math.hpp. Signs, zeros, infinities and NaN are as in C (ISO C, annex F).
#pragma once

namespace softalign::exact {

double exp(double x);
double log(double x);
double pow(double x, double y);
double sin(double x);  // |x| <= 1e7, else NaN
double cos(double x);

// As fast as logf of the C library, except for a few arguments in 2^28.
float log(float x);

}  // namespace softalign::exact
