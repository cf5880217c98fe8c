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

// Copies of weights in the layout for products of few rows (kernels/gemm.hpp): a weight is used at
// every time step, forward unchanged, backward transposed. One copy serves all steps and all parts of
// a batch. Weights must not change before forget(). Thread-safe.
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

// Summands of the gradients of weights: dw [x.columns, dy.columns] += x^T dy, from every time step and
// every part of a batch. They are postponed until backward has ended and then added sentence by sentence:
// all rows of the first sentence, in the order of their creation, then those of the second. So the bits do
// not depend on the division of a batch, and rows of many steps form one long product.

// Rows that are made when they are needed.
struct MadeRows {
  void (*make)(const void* from, Index sentence, Index position, real* to) = nullptr;
  const void* from = nullptr;
};

// x: stored or computed rows; or rows of a unit matrix, row ids[...] for each row of dy; or, without any
// of these, a single 1 per row: then the rows of dy, as wide as the weight, are summed.
struct WeightProduct {
  Index weight = 0;  // offset in the flat buffer of the parameters
  Index rows = 0, columns = 0;
  SentenceRows x = {};
  MadeRows made = {};
  SentenceRows dy = {};
  const Token* ids = nullptr;  // one per row of dy, which are contiguous

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

// Adds these columns of the products of one weight; the bits do not depend on the choice of columns.
// scratch is rewound.
void add_weight_products(std::span<const WeightProducts> parts,
                         const WeightColumns& to,
                         Arena& scratch);

// Gradients of a memory that every time step reads: step t adds rows_t[b]^T columns_t[b] to the gradient of
// sentence b. A single step would read and write the whole gradient, which is larger than a cache, for one
// multiplication per number; here several steps are collected into one matrix product per sentence. Steps
// that add nothing to a sentence are skipped, so padding changes no bits.

class OuterProducts {
 public:
  // gradient [B,S,D] += rows [B,S] (outer) columns [B,D], over the first lengths[b] of S, at the
  // latest when finish returns. In order: the bits depend on the calls alone.
  void add(View gradient, View rows, View columns, std::span<const Index> lengths);
  void finish(const real* gradients, Index size);  // for arrays in this range
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
