// Gates of the GRU (Cho et al. 2014; Bahdanau et al. 2015, appendix A.1.1), row by row; matrix
// products stay with the caller.
//   z = sigmoid(x_z + (h U)_z)   r = sigmoid(x_r + (h U)_r)   c = tanh(x_c + (r h) U_c)   h' = (1 -
//   z) h + z c
// A row of `gates` holds z, r, c side by side [3U]; xs rows hold x_z, x_r, x_c likewise. Rows lie
// `stride` numbers apart.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct GruSizes {
  Index rows;
  Index units;  // U
  Index
      gate_stride;  // between rows of x, gates and their gradients: 3U, or S * 3U inside a sequence
  Index state_stride;  // between rows of h, h' and their gradients: U, or S * U
};

// First half: z and r into gates, r h into reset [rows, U]. hu [rows, 2U] = h U. previous may be
// null: a state of zeros.
void gru_gates_forward(
    GruSizes sizes, const real* x, const real* hu, const real* previous, real* gates, real* reset);
// Second half: c into gates and h'. cu [rows, U] = reset U_c.
void gru_output_forward(
    GruSizes sizes, const real* x, const real* cu, const real* previous, real* gates, real* output);
// Backward of the second half. dh [rows, U] is the whole gradient of h'; writes the candidate's
// part of dgates (before tanh), z's part (before sigmoid), and dprevious [rows, U] = dh (1 - z).
void gru_output_backward(GruSizes sizes,
                         const real* dh,
                         const real* gates,
                         const real* previous,
                         real* dgates,
                         real* dprevious);
// Backward of the first half. dreset [rows, U] = gradient of r h; writes r's part of dgates, adds r
// dreset to dprevious.
void gru_gates_backward(GruSizes sizes,
                        const real* dreset,
                        const real* gates,
                        const real* previous,
                        real* dgates,
                        real* dprevious);

}  // namespace softalign::kernels
