// Attentions that move along the source: energies that see the previous alignment (Chorowski et al. 2015), and a
// window of Gaussian functions (Graves 2013). Valid positions are those of kernels/attention.hpp, for the window a
// prefix of the sentence. A gradient that is not needed may be null.
#pragma once

#include "framework/kernels/attention.hpp"

namespace softalign::kernels {

struct LocationFilters {
  Index count;           // K
  Index width;           // R, odd
  const real* numbers;   // [K,R]
  const real* to_units;  // [K,U]
  Index half() const { return width / 2; }
};

// e_bs = sum_u v_u tanh(q_bu + k_bsu + sum_k f_bsk m_ku),  f_bsk = sum_r F_kr a_b,s+r-half with zeros beyond the
// sentence; a [B,S] are the previous weights, which must be 0 at padding. scratch holds location_scratch() numbers.
Index location_scratch(AttentionSizes sizes, const LocationFilters& filters);
void location_energy_forward(AttentionSizes sizes,
                             const LocationFilters& filters,
                             const real* keys /*[B,S,U]*/,
                             const real* query /*[B,U]*/,
                             const real* v /*[U]*/,
                             const real* previous /*[B,S], a*/,
                             real* energies /*[B,S]*/,
                             real* scratch);
struct LocationGradients {
  real *keys, *query;
  real* v;         // [B,U]
  real* previous;  // [B,S]
  real* filters;   // [B,K,R]
  real* to_units;  // [B,K,U]
};
void location_energy_backward(AttentionSizes sizes,
                              const LocationFilters& filters,
                              const real* keys,
                              const real* query,
                              const real* v,
                              const real* previous,
                              const real* denergies,
                              LocationGradients to,
                              real* scratch);

// w_bs = sum_k height_bk exp(-sharpness_bk (center_bk - (s + 1))²), s from 0. All arguments [B,K].
struct GaussianMixture {
  Index count;  // K
  const real *heights, *sharpness, *centers;
};
struct MixtureGradients {
  real *heights, *sharpness, *centers;
};
void gaussian_mixture_forward(AttentionSizes sizes, const GaussianMixture& mixture, real* weights);
void gaussian_mixture_backward(AttentionSizes sizes,
                               const GaussianMixture& mixture,
                               const real* dweights,
                               MixtureGradients to);

// w_s = x_s / sum of x, over the valid positions; the sum must not be 0.
void normalize_forward(AttentionSizes sizes, const real* x, real* weights);
void normalize_backward(
    AttentionSizes sizes, const real* x, const real* weights, const real* dweights, real* dx);

void exp_forward(Index n, const real* x, real* y);
void exp_backward(Index n, const real* y, const real* dy, real* dx);  // dx += dy y

}  // namespace softalign::kernels
