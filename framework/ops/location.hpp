// Differentiable operations, as in ops/ops.hpp, of attentions that move along the source. All weights and energies
// are [B,S], and 0 outside [begins_b, lengths_b).
#pragma once

#include <span>

#include "framework/autodiff/tape.hpp"

namespace softalign {

Var exp(Var x);  // elementwise; in single precision for x <= 88

// v . tanh(q_b + k_bs + f_bs m), f_bsk = sum_r F_kr previous_b,s+r-R/2, r from 0 (Chorowski et al. 2015, equations 8,
// 9): keys [B,S,U], query [B,U], v [U], previous [B,S], 0 at padding; filters F [K,R], R odd; to_units m [K,U].
// Backward recomputes the features f.
struct LocationFeatures {
  Var previous, filters, to_units;
};
Var location_energy(Var keys,
                    Var query,
                    Var v,
                    const LocationFeatures& location,
                    std::span<const Index> lengths,
                    std::span<const Index> begins = {});
// x / sum of x over the positions of a sentence; x > 0.
Var normalize_prefix(Var x, std::span<const Index> lengths, std::span<const Index> begins = {});
// sum_k heights_bk exp(-sharpness_bk (centers_bk - (s + 1))²), s from 0 (Graves 2013, equation 46); all [B,K].
Var gaussian_mixture(
    Var heights, Var sharpness, Var centers, Index positions, std::span<const Index> lengths);

}  // namespace softalign
