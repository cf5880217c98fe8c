// Kernels of alpha-entmax (Peters et al. 2019), with beta = alpha - 1 from 0 (softmax) to 1 (sparsemax):
//   w_s = max(0, 1 + beta (e_s - t))^(1 / beta),   t such that the weights of a sentence sum to 1.
// Shapes and padding are as in kernels/attention.hpp. Backward ADDS.
#pragma once

#include "framework/kernels/attention.hpp"

namespace softalign::kernels {

// beta = 1/2: exact, from the sorted energies (algorithm 2). scratch holds S numbers.
void entmax15_forward(AttentionSizes sizes, const real* energies, real* weights, real* scratch);
// Any beta in [0, 1]: finds t by a fixed number of bisections (algorithm 1), then divides by the sum.
void entmax_forward(AttentionSizes sizes, const real* energies, SharedRow beta, real* weights);
// de_s = u_s (dw_s - mean of dw), u = w^(1 - beta) on the support, else 0; means are weighted by u.
// dbeta = -sum_s u_s dw_s (q_s - mean of q), q = d/dbeta of (w^beta - 1) / beta (Correia et al. 2019,
// proposition 1, in a form without a difference of almost equal numbers near beta = 0). Both may be null.
void entmax_backward(AttentionSizes sizes,
                     const real* weights,
                     SharedRow beta,
                     const real* dweights,
                     real* denergies,
                     real* dbeta /*[B]*/);

}  // namespace softalign::kernels
