// The core of multi-head attention (Vaswani et al. 2017, section 3.2): for each sentence and head
//   P = softmax(Q K^T / sqrt(d)),   context = P V,
// through kernels/gemm.hpp. B: sentences, H: heads, T: queries, S: keys, d: size of a head. What lies
// behind a sentence's last key is never read. Backward computes P again and ADDS.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

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

// The gradients of what forward reads from that of the context, or, when dcontext.data is null, from
// that of the mean weights, dmean. Any of dqueries, dkeys, dvalues may be null. scratch: 2 T S numbers.
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
