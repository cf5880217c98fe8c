// Kernels of attention. B: sentences, S: source positions, U: alignment units, D: annotation size.
// Positions [begins[b], lengths[b]) of sentence b are valid; other positions are never read, and
// their energies and weights are 0. Backward kernels ADD.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct AttentionSizes {
  Index sentences;                // B
  Index positions;                // S
  Index units;                    // U or D
  const Index* lengths;           // [B]
  const Index* begins = nullptr;  // [B]; null: 0. Read only by energies, softmax and normalize
  Index begin(Index b) const { return begins != nullptr ? begins[b] : 0; }
  Index valid() const {  // positions of all sentences
    Index all = 0;
    for (Index b = 0; b < sentences; ++b) all += lengths[b] - begin(b);
    return all;
  }
};

// One row for all sentences, or one for each, `of_sentence` numbers apart.
struct SharedRow {
  const real* data;
  Index of_sentence = 0;
  SharedRow(const real* row, Index apart = 0) : data(row), of_sentence(apart) {}
};

// e_bs = sum_u v_u tanh(q_bu + k_bsu)   (Bahdanau et al. 2015, appendix A.1.2)
void additive_energy_forward(AttentionSizes sizes,
                             const real* keys /*[B,S,U]*/,
                             const real* query /*[B,U]*/,
                             SharedRow v /*[U]*/,
                             real* energies /*[B,S]*/);
// Recomputes tanh instead of storing [B,S,U]. dv, dkeys and dquery may be null; scratch has 3 U
// numbers.
void additive_energy_backward(AttentionSizes sizes,
                              const real* keys,
                              const real* query,
                              SharedRow v,
                              const real* denergies /*[B,S]*/,
                              real* dkeys,
                              real* dquery,
                              real* dv /*[B,U]*/,
                              real* scratch);

// e_bs = sum_d k_bsd q_bd, optionally accumulated. This and weighted_sum are each other's backward:
// dq = weighted_sum(de, k), dw = batched_dot(h, dc).
void batched_dot(AttentionSizes sizes,
                 const real* keys /*[B,S,D]*/,
                 const real* query /*[B,D]*/,
                 bool add,
                 real* energies /*[B,S]*/);

// w_bs = exp(e_bs - max) / sum over the valid prefix; exactly 0 beyond it.
void softmax_forward(AttentionSizes sizes, const real* energies, real* weights);
void softmax_backward(AttentionSizes sizes,
                      const real* weights,
                      const real* dweights,
                      real* denergies);

// c_bd = sum_s w_bs h_bsd, optionally accumulated. Values with weight 0 are not read.
void weighted_sum(AttentionSizes sizes,
                  const real* weights /*[B,S]*/,
                  const real* values /*[B,S,D]*/,
                  bool add,
                  real* context /*[B,D]*/);

// Attentions other than a plain softmax. Except for coverage, the valid positions of a sentence are a
// prefix (AttentionSizes::lengths). A gradient that is not needed may be null.

// Copies numbers in descending order, NaNs last.
void sort_falling(const real* numbers, Index count, real* sorted);

// The point of the simplex nearest to the energies: w_s = max(e_s - threshold, 0) with the threshold
// for which they sum to 1 (Martins and Astudillo 2016, algorithm 1). scratch holds S numbers.
void sparsemax_forward(AttentionSizes sizes, const real* energies, real* weights, real* scratch);
// de_s = dw_s - mean of dw over the support, for s of the support; else 0.
void sparsemax_backward(AttentionSizes sizes,
                        const real* weights,
                        const real* dweights,
                        real* denergies);

// w_s = p_s q_s, q_s = (1 - p_{s-1}) q_{s-1} + previous_s: the probability of stopping at s when the
// pointer moves right from `previous` and stops at each position with probability p (Raffel et al.
// 2017, equation 9, and appendix C for this form). All [B,S]; reached holds q.
void monotonic_forward(
    AttentionSizes sizes, const real* stop, const real* previous, real* reached, real* weights);
void monotonic_backward(AttentionSizes sizes,
                        const real* stop,
                        const real* reached,
                        const real* dweights,
                        real* dstop,
                        real* dprevious);

// w_s = sum over k in [s, s + size) of ends_k p_ks, p_k the softmax of the energies in (k - size, k] (Chiu
// and Raffel 2018). scratch holds min(size, S) numbers.
void chunk_forward(AttentionSizes sizes,
                   const real* ends,
                   const real* energies,
                   Index size,
                   real* weights,
                   real* scratch);
void chunk_backward(AttentionSizes sizes,
                    const real* ends,
                    const real* energies,
                    Index size,
                    const real* dweights,
                    real* dends,
                    real* denergies,
                    real* scratch);

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

// e_bs = sum_u v_u tanh(q_bu + k_bsu + c_bs w_u): additive energies with the attention c that each
// position has received so far.
void coverage_energy_forward(AttentionSizes sizes,
                             const real* keys /*[B,S,U]*/,
                             const real* query /*[B,U]*/,
                             const real* v /*[U]*/,
                             const real* attended /*[B,S], c*/,
                             const real* w /*[U]*/,
                             real* energies /*[B,S]*/);
struct CoverageGradients {
  real *keys, *query;
  real* v;  // [B,U], as is w
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
