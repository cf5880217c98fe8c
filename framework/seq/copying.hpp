// For output layers that copy: the rows of attention weights, with the symbols that a copy writes; and the
// includes for the arithmetic on rows of logits and probabilities that their losses need.
#pragma once

#include <span>

#include "framework/autodiff/tape.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign {

// Returns the columns of a layer that copies: V, plus one per position where a word outside the vocabulary may begin.
inline Index copy_columns(Index symbols, const SourceBatch& source) {
  return symbols + source.positions;
}

// One step of one sentence. by_symbol [V + S] has a number for each of the copy_columns().
struct CopyRow {
  std::span<const Token> symbols;  // the copy of each position; symbols may repeat
  const real* weights;             // [positions]
  real* dweights;                  // [positions], accumulated; null: not needed

  // Adds to each by_symbol[v] the weights of the positions whose copy is v.
  void add_to(real* by_symbol) const {
    for (std::size_t s = 0; s < symbols.size(); ++s) by_symbol[usize(symbols[s])] += weights[s];
  }
  // Sets by_symbol[v] to 0 for the symbols of the sentence.
  void clear(real* by_symbol) const {
    for (const Token symbol : symbols) by_symbol[usize(symbol)] = 0;
  }
};

class CopyRows {
 public:
  // weights [T,B,S]; rows: in a search, the sentence of each row (AttentionMemory::rows).
  CopyRows(Var weights, const SourceBatch& source, std::span<const Index> rows = {})
      : weights_(weights.value()),
        gradient_(weights.gradient()),
        symbols_(source.copies),
        positions_(source.positions),
        lengths_(source.lengths),
        rows_(rows) {}

  CopyRow operator[](Index i) const {  // t * B + b
    const Index row = i % weights_.shape.sentences(), at = i * weights_.shape.last();
    const Index sentence = rows_.empty() ? row : rows_[usize(row)];
    return {symbols_.subspan(usize(sentence * positions_), usize(lengths_[usize(sentence)])),
            weights_.data + at,
            gradient_ ? gradient_.data + at : nullptr};
  }

 private:
  View weights_, gradient_;
  std::span<const Token> symbols_;
  Index positions_;
  std::span<const Index> lengths_, rows_;
};

}  // namespace softalign
