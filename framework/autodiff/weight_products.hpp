// Products with a weight matrix that is used again at every time step. One step has few rows, and a
// product of few rows is slow: its cost is reading the weights. So gradients of weights are put
// off until many rows have come together, and a transposed copy is made once instead of at every
// step.
#pragma once

#include <vector>

#include "framework/base/arena.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

class WeightProducts {
 public:
  // dw [x.columns, dy.columns] += x^T dy, at the latest when finish() returns; x and dy are copied.
  // In order: the bits depend on the calls alone.
  void add_gradient(Matrix x, Matrix dy, real* dw);
  void finish();

  // w (not transposed itself) as it would be for a product from the right with its transpose. When
  // the product has few rows, that of a copy, kept until reset(): w must not change before.
  Matrix transpose(Matrix w, Index rows);

  void reset();  // forgets copies and what was put off; the memory is kept
  std::size_t peak_bytes() const { return arena_.peak(); }

 private:
  struct PutOff {
    real* dw;
    Index in, out, rows;
    real *x, *dy;  // [kRows, in] and [kRows, out]
  };
  struct Copy {
    const real* of;
    real* transposed;
  };
  void compute(PutOff& one);

  Arena arena_;
  std::vector<PutOff> put_off_;
  std::vector<Copy> copies_;
};

}  // namespace softalign
