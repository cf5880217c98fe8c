// Copies of weights in the layout that products of few rows want (kernels/gemm.hpp): a weight is used
// again at every time step, forward as it is, backward transposed. A copy serves all steps, and all
// parts of a batch. Weights must not change before forget().
#pragma once

#include <mutex>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

// May be asked by several threads.
class WeightPacks {
 public:
  PackedMatrix pack(Matrix w);
  void forget();  // the memory is kept
  std::size_t peak_bytes() const { return arena_.peak(); }

 private:
  std::mutex mutex_;
  Arena arena_;
  std::vector<PackedMatrix> packs_;
};

}  // namespace softalign
