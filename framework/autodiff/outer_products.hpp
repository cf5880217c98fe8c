// Gradients of a memory that every time step reads: step t adds rows_t[b]^T columns_t[b] to the
// gradient of sentence b. Each step alone would read and write the whole gradient, which is larger
// than a cache, for one multiplication a number; here a few steps come together and are one matrix
// product a sentence. Steps that add nothing to a sentence are left out: how far it was padded sets no bits.
#pragma once

#include <span>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/base/view.hpp"

namespace softalign {

class OuterProducts {
 public:
  // gradient [B,S,D] += rows [B,S] (outer) columns [B,D], over the first lengths[b] of S, at the
  // latest when finish returns. In order: the bits depend on the calls alone.
  void add(View gradient, View rows, View columns, std::span<const Index> lengths);
  void finish(const real* gradients, Index size);  // of the arrays that lie here
  void finish();                                   // of all

  void reset();
  std::size_t peak_bytes() const { return arena_.peak(); }

 private:
  struct PutOff {
    View gradient;
    const Index* lengths;
    Index* steps;          // [B]
    real *rows, *columns;  // [B, kSteps, S] and [B, kSteps, D]
  };
  void compute(const PutOff& one);
  void compute(const PutOff& one, Index sentence);

  Arena arena_;
  std::vector<PutOff> put_off_;
};

}  // namespace softalign
