// Matrix products of many time steps made cheap: weights packed once for all steps, and the gradients of weights and of
// an attention's memory, whose summands wait until there are enough of them for one long product.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/base/view.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

// Copies of weights in the layout that products of few rows want (kernels/gemm.hpp): a weight is used
// again at every time step, forward as it is, backward transposed. A copy serves all steps, and all
// parts of a batch. Weights must not change before forget().
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

// Summands of the gradients of weights: dw [x.columns, dy.columns] += x^T dy, which backward makes at every
// time step, in every part of a batch. They wait until backward has ended and are then added up sentence by
// sentence: all rows of the first sentence, in the order in which they were made, then those of the second.
// So the bits do not depend on how a batch was cut, and rows of many steps are one long product.

// Rows that are made when they are needed.
struct MadeRows {
  void (*make)(const void* from, Index sentence, Index position, real* to) = nullptr;
  const void* from = nullptr;
};

// x: rows that lie there or are made; or those of a unit matrix, row ids[...] for each row of dy; or, when
// there is none of these, a single 1 each: then dy's rows are added up, which are of the whole weight.
struct WeightProduct {
  Index weight = 0;  // offset in the flat buffer of the parameters
  Index rows = 0, columns = 0;
  SentenceRows x = {};
  MadeRows made = {};
  SentenceRows dy = {};
  const Token* ids = nullptr;  // as the rows of dy, which lie behind one another

  Token id(Index sentence, Index position) const {
    return ids[(dy.row(sentence, position) - dy.data) / dy.columns];
  }
};

using WeightProducts = std::vector<WeightProduct>;

// Calls f(product, sentence, position) for every row, in the order of the sum. parts: the products of one
// weight by part of a batch.
template <class F>
void for_each_row(std::span<const WeightProducts> parts, F f) {
  for (const WeightProducts& products : parts) {
    Index sentences = 0;
    for (const WeightProduct& one : products)
      if (one.dy.sentences > sentences) sentences = one.dy.sentences;
    for (Index b = 0; b < sentences; ++b)
      for (const WeightProduct& one : products)
        if (b < one.dy.sentences)
          for (Index s = 0; s < one.dy.positions_of(b); ++s) f(one, b, s);
  }
}

// A gradient [rows, columns], or some of its columns.
struct WeightColumns {
  real* numbers;
  Index rows, columns;
  Index first, count;
};

// The columns += those of the products of one weight: the bits do not depend on which. scratch: rewound.
void add_weight_products(std::span<const WeightProducts> parts,
                         const WeightColumns& to,
                         Arena& scratch);

// Gradients of a memory that every time step reads: step t adds rows_t[b]^T columns_t[b] to the
// gradient of sentence b. Each step alone would read and write the whole gradient, which is larger
// than a cache, for one multiplication a number; here a few steps come together and are one matrix
// product a sentence. Steps that add nothing to a sentence are left out: how far it was padded sets no bits.

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
