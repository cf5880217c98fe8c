// Layer normalisation (Ba et al. 2016) of rows: y = gain (x - mean) / sqrt(variance + epsilon) + bias,
// mean and variance of the row itself. Backward ADDS.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct LayerNormSizes {
  Index rows;
  Index size;  // D
  real epsilon;
};

// Which sentence a row belongs to: `positions` rows of a sentence lie together, or, steps first, one of each
// sentence.
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

}  // namespace softalign::kernels
