// Gates of the recurrent cells, row by row: the GRU, the GRU whose reset gate acts after the product, the LSTM. The
// caller computes the matrix products. Backward ADDS to the gradients of previous states.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Gates of the GRU (Cho et al. 2014; Bahdanau et al. 2015, appendix A.1.1).
//   z = sigmoid(x_z + (h U)_z)   r = sigmoid(x_r + (h U)_r)   c = tanh(x_c + (r h) U_c)
//   h' = (1 - z) h + z c
// A row of `gates` holds z, r, c side by side [3U], computed in place: on entry it holds x_z, x_r,
// x_c. A null previous state is zero.

struct GruSizes {
  Index rows;
  Index units;         // U
  Index gate_stride;   // between rows of gates and their gradients: 3U, or S * 3U in a sequence
  Index state_stride;  // between rows of h and h': U, or S * U
};

// First half, after h U was added to the gates: computes z and r, and r h in reset [rows, U].
void gru_gates_forward(GruSizes sizes, const real* previous, real* gates, real* reset);
// Second half, after reset U_c was added to the gates: computes c and h'.
void gru_output_forward(GruSizes sizes, const real* previous, real* gates, real* output);
// Backward of the second half. dh [rows, U]: the whole gradient of h'. Writes the gradients of z and c,
// before their sigmoid and tanh, to dgates; adds dh (1 - z) to dprevious [rows, U].
void gru_output_backward(GruSizes sizes,
                         const real* dh,
                         const real* gates,
                         const real* previous,
                         real* dgates,
                         real* dprevious);
// Backward of the first half. dreset [rows, U]: the gradient of r h. Writes the gradient of r to dgates,
// adds r dreset to dprevious. Replaces r by r h, from which the gradient of U_c is computed.
void gru_gates_backward(GruSizes sizes,
                        const real* dreset,
                        const real* previous,
                        real* gates,
                        real* dgates,
                        real* dprevious);
// Backward of both halves without a previous state.
void gru_first_backward(GruSizes sizes, const real* dh, const real* gates, real* dgates);

// Gates of the GRU whose reset gate acts after the product. x: a step's projected input, q: the
// projected state h U + b, both with z, r, c side by side [3U].
//   z = sigmoid(x_z + q_z)   r = sigmoid(x_r + q_r)   c = tanh(x_c + r q_c)   h' = (1 - z) h + z c

// gates [rows, 3U]: x on entry, then z, r, c. q [rows, 3U]; h and h' [rows, U].
void gru_reset_after_forward(
    Index rows, Index units, const real* q, const real* previous, real* gates, real* output);
// dh [rows, U]. Writes dgates, the gradient of x; adds to dq and dprevious, which may be null.
void gru_reset_after_backward(Index rows,
                              Index units,
                              const real* dh,
                              const real* q,
                              const real* previous,
                              const real* gates,
                              real* dgates,
                              real* dq,
                              real* dprevious);

// Gates of the LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000,
// without peepholes).
//   i = sigmoid(x_i + (h U)_i)   f = sigmoid(x_f + (h U)_f)
//   g = tanh(x_g + (h U)_g)      o = sigmoid(x_o + (h U)_o)
//   c' = f c + i g               h' = o tanh(c')
// A row of `gates` holds i, f, g, o side by side [4U], computed in place: on entry it holds x + h U.
// A null previous c is zero.

struct LstmSizes {
  Index rows;
  Index units;            // U
  Index gate_stride;      // between rows of gates and their gradients: 4U, or S * 4U in a sequence
  Index previous_stride;  // between rows of c: U, or S * U
  Index state_stride;     // between rows of c' and h': U, or S * U
};

void lstm_forward(
    LstmSizes sizes, const real* previous_c, real* gates, real* output, real* output_c);
// dh, dc [rows, U]: the whole gradients of h' and c'. Writes dgates, before sigmoid and tanh; adds to
// dprevious_c [rows, U]. Recomputes tanh(c').
void lstm_backward(LstmSizes sizes,
                   const real* dh,
                   const real* dc,
                   const real* gates,
                   const real* previous_c,
                   const real* output_c,
                   real* dgates,
                   real* dprevious_c);

}  // namespace softalign::kernels
