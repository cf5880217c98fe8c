// Transposed copies of weights that are used again at every time step. Backward multiplies by the
// transpose, and a product of few rows would spend its time on transposing; one copy serves all steps,
// and all shards of a batch. Not for weights that change before forget().
#pragma once

#include <mutex>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

// May be asked by several threads.
class WeightTransposes {
 public:
  // w (not transposed itself) as it is for a product from the right with its transpose: with few
  // rows a copy, that stays until forget().
  Matrix transpose(Matrix w, Index rows);
  void forget();  // the memory is kept
  std::size_t peak_bytes() const { return arena_.peak(); }

 private:
  struct Copy {
    const real* of;
    real* transposed;
  };
  std::mutex mutex_;
  Arena arena_;
  std::vector<Copy> copies_;
};

}  // namespace softalign
