// Summands of the gradients of weights: dw [x.columns, dy.columns] += x^T dy, which backward makes at every
// time step, in every part of a batch. They wait until backward has ended and are then added up sentence by
// sentence: all rows of the first sentence, in the order in which they were made, then those of the second.
// So the bits do not depend on how a batch was cut, and rows of many steps are one long product.
#pragma once

#include <span>
#include <vector>

#include "framework/base/arena.hpp"
#include "framework/base/view.hpp"

namespace softalign {

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

}  // namespace softalign
