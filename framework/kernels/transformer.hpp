// Kernels of a Transformer besides products with weights: layer normalisation, multi-head attention and rotary
// positions. Backward ADDS.
#pragma once

#include <cstdint>

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Layer normalisation (Ba et al. 2016) of rows: y = gain (x - mean) / sqrt(variance + epsilon) + bias,
// mean and variance of the row itself.

struct LayerNormSizes {
  Index rows;
  Index size;  // D
  real epsilon;
};

// Maps rows to sentences: the `positions` rows of a sentence are contiguous or, with steps_first, each step
// has one row of each sentence.
struct SentencesOfRows {
  Index count, positions;
  bool steps_first;
  Index of(Index row) const { return steps_first ? row % count : row / positions; }
};

// mean, scale [rows] are for backward; scale = 1 / sqrt(variance + epsilon).
void layer_norm_forward(LayerNormSizes sizes,
                        const real* x /*[rows, D]*/,
                        const real* gain /*[D]*/,
                        const real* bias /*[D]*/,
                        real* y,
                        real* mean,
                        real* scale);
// dgain and dbias [sentences, D]; dx, dgain and dbias may be null.
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

// Vectors of all heads side by side, H d numbers for each sentence and position; the vectors of sentence b
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

// Vectors of clipped distances (Shaw et al. 2018, equations 3, 4): key s and query t use row
// clip + (s - position of t), clamped to [0, rows), of a table [rows, stride]. Energies are
// Q (K + keys row)^T, contexts P (V + values row).
struct DistanceRows {
  const real* keys = nullptr;    // null: no distances
  const real* values = nullptr;  // null: no distances in the values
  Index clip = 0;
  Index rows = 0;
  Index stride = 0;
  Index head = 0;  // numbers from the vectors of one head to those of the next; 0: shared
};
// Gradients of DistanceRows, a table for each sentence [B, rows, stride]; either may be null.
struct DistanceGradients {
  real* keys = nullptr;
  real* values = nullptr;
};

// Dropout of weights: contexts are (P keep scale) V. The outputs mean and each are those of P itself.
struct KeptWeights {
  const std::uint8_t* keep = nullptr;  // [B,T,H,S], 0 or 1; null: no dropout, scale is ignored
  real scale = 1;
};

struct MultiHeadTerms {
  DistanceRows distances = {};
  KeptWeights kept = {};
};

// Returns the size of the scratch memory of forward or backward.
inline Index multi_head_scratch(const MultiHeadSizes& sizes,
                                const MultiHeadTerms& terms,
                                bool backward) {
  const Index turned = backward || sizes.queries > 1 ? 0 : sizes.heads * sizes.size * sizes.keys;
  return sizes.queries * (sizes.keys * (backward ? 2 : 1) + terms.distances.rows) + turned;
}

// mean [T,B,S]: the mean of P over the heads; each [T,B,H,S]: P itself. Either may be null; both must be
// zero on entry.
void multi_head_forward(const MultiHeadSizes& sizes,
                        const MultiHeadTerms& terms,
                        HeadRows<const real> queries,
                        HeadRows<const real> keys,
                        HeadRows<const real> values,
                        HeadRows<real> context,
                        real* mean,
                        real* each,
                        real* scratch);

// Computes the gradients of the inputs of forward from that of the context or, if dcontext.data is
// null, from that of the mean weights, dmean. Any of dqueries, dkeys, dvalues may be null.
void multi_head_backward(const MultiHeadSizes& sizes,
                         const MultiHeadTerms& terms,
                         HeadRows<const real> queries,
                         HeadRows<const real> keys,
                         HeadRows<const real> values,
                         HeadRows<const real> dcontext,
                         const real* dmean,
                         HeadRows<real> dqueries,
                         HeadRows<real> dkeys,
                         HeadRows<real> dvalues,
                         DistanceGradients ddistances,
                         real* scratch);

// Rotary positions (Su et al. 2021, equation 34), in place: in `heads` heads of `size` numbers at the beginning
// of a row, the pair (x_2i, x_2i+1) is rotated by an angle whose cosine and sine are turn[2i] and turn[2i+1];
// backwards: by minus the angle. size is even.
void rotate(Index heads, Index size, const real* turn /*[size]*/, bool backwards, real* row);

}  // namespace softalign::kernels
