// Least squares and singular values by xtensor-blas (base/blas.hpp). The last bits of the results depend on the
// library and the processor, so recorded numbers are never computed by them. Both functions are in a separate library,
// which is loaded on first use, because OpenBLAS takes threads and memory when it is loaded, and hangs if there is too
// little.
#pragma once

#include "framework/base/array.hpp"

namespace softalign {

// Returns the c [columns] that minimises |x c - y|. Singular values below `cut` times the largest count as 0. Both
// functions throw MachineError if the library cannot be loaded.
Array1d least_squares(const Array2d& x, const Array1d& y, double cut);

// x = u diag(s) vt, with min(rows, columns) singular values in descending order.
struct SingularValues {
  Array2d u;
  Array1d s;
  Array2d vt;
};
SingularValues singular_values(const Array2d& x);

}  // namespace softalign
