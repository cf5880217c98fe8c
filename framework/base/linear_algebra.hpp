// Least squares and singular values by xtensor-blas (base/blas.hpp). Their last bits depend on the library and
// the processor, so recorded numbers never come from them. They are in a separate library, which is loaded on
// first use: OpenBLAS takes threads and memory as soon as it is loaded, and waits for ever if there is too
// little.
#pragma once

#include "framework/base/array.hpp"

namespace softalign {

// The c [columns] with the least |x c - y|. Singular values below `cut` times the largest count as 0. Both
// functions throw MachineError where the library cannot be loaded.
Array1d least_squares(const Array2d& x, const Array1d& y, double cut);

// x = u diag(s) vt, with as many singular values, falling, as x has rows or columns.
struct SingularValues {
  Array2d u;
  Array1d s;
  Array2d vt;
};
SingularValues singular_values(const Array2d& x);

}  // namespace softalign
