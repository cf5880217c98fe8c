// Computations of a Transformer besides products of weights: layer normalisation and multi-head attention. Backward
// ADDS.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Layer normalisation (Ba et al. 2016) of rows: y = gain (x - mean) / sqrt(variance + epsilon) + bias,
// mean and variance of the row itself.

struct LayerNormSizes {
  Index rows;
  Index size;  // D
  real epsilon;
};

// The sentence that a row belongs to: `positions` rows of a sentence are contiguous, or, with steps first,
// one row of each sentence.
struct SentencesOfRows {
  Index count, positions;
  bool steps_first;
  Index of(Index row) const { return steps_first ? row % count : row / positions; }
};

// mean, scale [rows]: what backward reads, scale = 1 / sqrt(variance + epsilon).
void layer_norm_forward(LayerNormSizes sizes,
                        const real* x /*[rows, D]*/,
                        const real* gain /*[D]*/,
                        const real* bias /*[D]*/,
                        real* y,
                        real* mean,
                        real* scale);
// dgain and dbias [sentences, D]. They and dx may be null.
void layer_norm_backward(LayerNormSizes sizes,
                         const real* x,
                         const real* gain,
                         const real* mean,
                         const real* scale,
                         const real* dy,
                         real* dx,
                         SentencesOfRows sentences,
                         real* dgain,
                         real* dbias);

// The core of multi-head attention (Vaswani et al. 2017, section 3.2): for each sentence and head
//   P = softmax(Q K^T / sqrt(d)),   context = P V,
// through kernels/gemm.hpp. B: sentences, H: heads, T: queries, S: keys, d: size of a head. Data
// after a sentence's last key is never read. Backward recomputes P.

// Vectors of all heads side by side, H d numbers, for each sentence and position: those of sentence b
// at position t begin at data + b * sentence + t * position.
template <class Number>
struct HeadRows {
  Number* data;
  Index sentence;
  Index position;
};

struct MultiHeadSizes {
  Index sentences;       // B
  Index queries;         // T
  Index keys;            // S
  Index heads;           // H
  Index size;            // d
  const Index* lengths;  // [B] keys of a sentence; null: all S
  bool causal;           // query t sees keys up to t + S - T

  Index keys_of(Index sentence) const { return lengths == nullptr ? keys : lengths[sentence]; }
};

// mean [T,B,S]: the mean of P over the heads, each [T,B,H,S]: P itself; either may be null, both must be
// zeroed before. scratch: T * S numbers.
void multi_head_forward(const MultiHeadSizes& sizes,
                        HeadRows<const real> queries,
                        HeadRows<const real> keys,
                        HeadRows<const real> values,
                        HeadRows<real> context,
                        real* mean,
                        real* each,
                        real* scratch);

// Computes the gradients of the inputs of forward from that of the context or, if dcontext.data is
// null, from that of the mean weights, dmean. Any of dqueries, dkeys, dvalues may be null. scratch: 2 T
// S numbers.
void multi_head_backward(const MultiHeadSizes& sizes,
                         HeadRows<const real> queries,
                         HeadRows<const real> keys,
                         HeadRows<const real> values,
                         HeadRows<const real> dcontext,
                         const real* dmean,
                         HeadRows<real> dqueries,
                         HeadRows<real> dkeys,
                         HeadRows<real> dvalues,
                         real* scratch);

}  // namespace softalign::kernels
