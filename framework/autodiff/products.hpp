// Cheaper matrix products over many time steps: weights are packed once for all steps, and the summands of gradients of
// weights and of an attention's memory are collected into long products.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/base/view.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

// Weights packed for products of few rows (kernels/gemm.hpp). A weight is used at every time step, as
// it is in forward, transposed in backward; one copy of each serves all steps and all parts of a
// batch. Weights must not change before forget(). Thread-safe.
class WeightPacks {
 public:
  PackedMatrix pack(Matrix w);
  void forget();  // drops all packs, keeps the memory
  std::size_t peak_bytes() const { return arena_.peak(); }

 private:
  std::mutex mutex_;
  Arena arena_;
  std::vector<PackedMatrix> packs_;
};

// Summands of the gradients of weights: dw [x.columns, dy.columns] += x^T dy, from every time step and
// every part of a batch. They are postponed until backward has ended and then added sentence by sentence:
// all rows of the first sentence, in the order of their creation, then all rows of the second. Thus the
// bits do not depend on the division of a batch, and rows of many steps form one long product.

// Rows that are computed on demand: make writes one row to `to`.
struct MadeRows {
  void (*make)(const void* from, Index sentence, Index position, real* to) = nullptr;
  const void* from = nullptr;
};

// x is given as stored rows (x), as computed rows (made), or as ids, which select a row of the unit matrix
// for each row of dy. Without any of them the rows of dy, each of the weight's size, are summed.
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
// weight, for each part of the batch.
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
// Rewinds scratch.
void add_weight_products(std::span<const WeightProducts> parts,
                         const WeightColumns& to,
                         Arena& scratch);

// Gradients of a memory that every time step reads: step t adds rows_t[b]^T columns_t[b] to the gradient of
// sentence b. A single step would read and write the whole gradient, which is larger than a cache, for one
// multiplication per number; here several steps are collected into one matrix product per sentence. Steps
// that add nothing to a sentence are skipped, so padding changes no bits.

class OuterProducts {
 public:
  // gradient [B,S,D] += rows [B,S] (outer) columns [B,D], over the first lengths[b] positions, at the
  // latest when finish returns. Sums follow the order of the calls, which alone determines the bits.
  void add(View gradient, View rows, View columns, std::span<const Index> lengths);
  void finish(const real* gradients, Index size);  // computes pending sums of this range
  void finish();                                   // computes all pending sums

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
