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

// mean, scale [rows]: what backward reads, scale = 1 / sqrt(variance + epsilon).
void layer_norm_forward(LayerNormSizes sizes,
                        const real* x /*[rows, D]*/,
                        const real* gain /*[D]*/,
                        const real* bias /*[D]*/,
                        real* y,
                        real* mean,
                        real* scale);
// dx, dgain and dbias may be null.
void layer_norm_backward(LayerNormSizes sizes,
                         const real* x,
                         const real* gain,
                         const real* mean,
                         const real* scale,
                         const real* dy,
                         real* dx,
                         real* dgain,
                         real* dbias);

}  // namespace softalign::kernels
