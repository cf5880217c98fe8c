// Replaces attention weights with Inspection::change, for ScoredAttention and other attentions.
#pragma once

#include <algorithm>
#include <span>

#include "framework/autodiff/tape.hpp"
#include "framework/base/types.hpp"
#include "framework/seq/inspection.hpp"

namespace softalign {

// Returns the weights [B,S] of a step as changed by Inspection::change; without it, `weights` itself.
inline Var changed_weights(const Inspection& inspection,
                           Var weights,
                           std::span<const Index> lengths,
                           Index step) {
  if (inspection.change == nullptr) return weights;
  View other = weights.tape().allocate(weights.shape());
  std::copy(weights.value().begin(), weights.value().end(), other.begin());
  for (std::size_t b = 0; b < lengths.size(); ++b)
    (*inspection.change)(step,
                         {other.data + static_cast<Index>(b) * other.shape[1], usize(lengths[b])});
  return weights.tape().constant(other);
}

}  // namespace softalign
