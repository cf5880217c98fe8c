// Gates of the LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000,
// without peepholes), row by row; the product h U, of the previous h, stays with the caller.
//   i = sigmoid(x_i + (h U)_i)   f = sigmoid(x_f + (h U)_f)
//   g = tanh(x_g + (h U)_g)      o = sigmoid(x_o + (h U)_o)
//   c' = f c + i g               h' = o tanh(c')
// A row of `gates` holds i, f, g, o side by side [4U]. At first it holds x + h U: everything happens in
// place. Without a previous c (null) that is zero.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct LstmSizes {
  Index rows;
  Index units;            // U
  Index gate_stride;      // between rows of gates and their gradients: 4U, or S * 4U in a sequence
  Index previous_stride;  // between rows of c: U, or S * U
  Index state_stride;     // between rows of c' and h': U, or S * U
};

void lstm_forward(
    LstmSizes sizes, const real* previous_c, real* gates, real* output, real* output_c);
// dh, dc [rows, U]: the whole gradients of h' and c'. Writes dgates (before their sigmoid and tanh),
// adds to dprevious_c [rows, U]. Computes tanh(c') again.
void lstm_backward(LstmSizes sizes,
                   const real* dh,
                   const real* dc,
                   const real* gates,
                   const real* previous_c,
                   const real* output_c,
                   real* dgates,
                   real* dprevious_c);

}  // namespace softalign::kernels
