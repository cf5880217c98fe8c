// Gates of the GRU (Cho et al. 2014; Bahdanau et al. 2015, appendix A.1.1), row by row; matrix
// products stay with the caller.
//   z = sigmoid(x_z + (h U)_z)   r = sigmoid(x_r + (h U)_r)   c = tanh(x_c + (r h) U_c)
//   h' = (1 - z) h + z c
// A row of `gates` holds z, r, c side by side [3U]. At first it holds x_z, x_r, x_c: everything
// happens in place. Without a previous state (null) that state is zero.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct GruSizes {
  Index rows;
  Index units;         // U
  Index gate_stride;   // between rows of gates and their gradients: 3U, or S * 3U in a sequence
  Index state_stride;  // between rows of h and h': U, or S * U
};

// First half, when h U has been added to the gates: z and r, and r h into reset [rows, U].
void gru_gates_forward(GruSizes sizes, const real* previous, real* gates, real* reset);
// Second half, when reset U_c has been added: c and h'.
void gru_output_forward(GruSizes sizes, const real* previous, real* gates, real* output);
// Backward of the second half. dh [rows, U]: the whole gradient of h'. Writes the parts of z and c in
// dgates (before their sigmoid and tanh), adds dh (1 - z) to dprevious [rows, U].
void gru_output_backward(GruSizes sizes,
                         const real* dh,
                         const real* gates,
                         const real* previous,
                         real* dgates,
                         real* dprevious);
// Backward of the first half. dreset [rows, U]: the gradient of r h. Writes the part of r in dgates,
// adds r dreset to dprevious. Where r was it leaves r h, what the gradient of U_c is made from.
void gru_gates_backward(GruSizes sizes,
                        const real* dreset,
                        const real* previous,
                        real* gates,
                        real* dgates,
                        real* dprevious);
// The same two without a previous state.
void gru_first_backward(GruSizes sizes, const real* dh, const real* gates, real* dgates);

}  // namespace softalign::kernels
