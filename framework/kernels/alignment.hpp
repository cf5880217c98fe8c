// Kernels of the attentions that are no plain softmax. B: sentences, S: source positions; the valid
// positions of a sentence are a prefix (AttentionSizes::lengths): padding is never read, weights there
// are 0. Backward kernels ADD; a gradient that nobody needs may be null.
#pragma once

#include "framework/kernels/attention.hpp"

namespace softalign::kernels {

// The point of the simplex nearest to the energies: w_s = max(e_s - threshold, 0) with the threshold
// for which they sum to 1 (Martins and Astudillo 2016, algorithm 1). scratch holds S numbers.
void sparsemax_forward(AttentionSizes sizes, const real* energies, real* weights, real* scratch);
// de_s = dw_s - mean of dw over the support, for s of the support; else 0.
void sparsemax_backward(AttentionSizes sizes,
                        const real* weights,
                        const real* dweights,
                        real* denergies);

// w_s = p_s q_s, q_s = (1 - p_{s-1}) q_{s-1} + previous_s: the probability of standing at s when the
// pointer moves right from `previous` and stops at each position with p (Raffel et al. 2017, equation
// 9, and appendix C for this form). All [B,S]; reached holds q.
void monotonic_forward(
    AttentionSizes sizes, const real* stop, const real* previous, real* reached, real* weights);
void monotonic_backward(AttentionSizes sizes,
                        const real* stop,
                        const real* reached,
                        const real* dweights,
                        real* dstop,
                        real* dprevious);

// w_s exp(-(s - c)² / (2 sigma²)), c [B] the centre of each sentence, positions from 0.
void gaussian_forward(
    AttentionSizes sizes, const real* weights, const real* centers, real deviation, real* scaled);
void gaussian_backward(AttentionSizes sizes,
                       const real* weights,
                       const real* centers,
                       real deviation,
                       const real* dscaled,
                       real* dweights,
                       real* dcenters);

// e_bs = sum_u v_u tanh(q_bu + k_bsu + c_bs w_u): additive, with what each position has had so far.
void coverage_energy_forward(AttentionSizes sizes,
                             const real* keys /*[B,S,U]*/,
                             const real* query /*[B,U]*/,
                             const real* v /*[U]*/,
                             const real* attended /*[B,S], c*/,
                             const real* w /*[U]*/,
                             real* energies /*[B,S]*/);
struct CoverageGradients {
  real *keys, *query;
  real* v;  // [B,U], likewise w
  real* attended;
  real* w;
};
// scratch holds U numbers.
void coverage_energy_backward(AttentionSizes sizes,
                              const real* keys,
                              const real* query,
                              const real* v,
                              const real* attended,
                              const real* w,
                              const real* denergies,
                              CoverageGradients to,
                              real* scratch);

}  // namespace softalign::kernels
