// Gates of the GRU whose reset gate acts after the product (kernels/gru.hpp has the other one), row by
// row. x: a step's projected input, q: the projected state h U + b, both z, r, c side by side [3U].
//   z = sigmoid(x_z + q_z)   r = sigmoid(x_r + q_r)   c = tanh(x_c + r q_c)   h' = (1 - z) h + z c
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// gates [rows, 3U]: x at first, then z, r, c. q [rows, 3U]; h and h' [rows, U].
void gru_reset_after_forward(
    Index rows, Index units, const real* q, const real* previous, real* gates, real* output);
// dh [rows, U]. Writes dgates, the gradient of x; adds to dq and dprevious; each may be null.
void gru_reset_after_backward(Index rows,
                              Index units,
                              const real* dh,
                              const real* q,
                              const real* previous,
                              const real* gates,
                              real* dgates,
                              real* dq,
                              real* dprevious);

}  // namespace softalign::kernels
