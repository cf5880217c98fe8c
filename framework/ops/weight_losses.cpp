// Losses of the attention weights of all steps.
#include <algorithm>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

void require_steps(std::span<const Var> weights, const char* op) {
  if (weights.empty()) throw BugError("[{}] there are no steps", op);
  const Shape& first = weights.front().shape();
  for (Var step : weights)
    if (first.rank() != 2 || step.shape() != first)
      throw BugError(
          "[{}] {} {}: all steps must be of one shape [B,S]", op, first.str(), step.shape().str());
}

bool any_needs_gradient(std::span<const Var> vars) {
  return std::any_of(vars.begin(), vars.end(), [](Var var) { return var.needs_gradient(); });
}

}  // namespace

// d/dw_tbs = -2 factor (1 - sum_t w_tbs)
Var doubly_stochastic_penalty(std::span<const Var> weights,
                              std::span<const Index> positions,
                              std::span<const Index> steps,
                              real factor) {
  require_steps(weights, "doubly_stochastic_penalty");
  Tape& tape = weights.front().tape();
  const Index rows = weights.front().shape()[0], width = weights.front().shape()[1];
  View missing = tape.zeros({rows, width});  // 1 - sum_t w_tbs
  View loss = tape.allocate({rows});
  for (Index b = 0; b < rows; ++b) {
    const auto row = usize(b);
    real* left = missing.data + b * width;
    std::fill_n(left, positions[row], real{1});
    for (Index t = 0; t < steps[row]; ++t) {
      const real* now = weights[usize(t)].value().data + b * width;
      for (Index s = 0; s < positions[row]; ++s) left[s] -= now[s];
    }
    double total = 0;
    for (Index s = 0; s < positions[row]; ++s) total += static_cast<double>(left[s] * left[s]);
    loss.data[b] = static_cast<real>(static_cast<double>(factor) * total);
  }
  return tape.record_if(loss, any_needs_gradient(weights), [=](View dloss) {
    for (std::size_t t = 0; t < weights.size(); ++t) {
      View dw = weights[t].gradient();
      if (!dw) continue;
      for (std::size_t row = 0; row < steps.size(); ++row) {
        if (static_cast<Index>(t) >= steps[row]) continue;
        const Index at = static_cast<Index>(row) * width;
        const real scale = -2 * factor * dloss.data[row];
        for (Index s = 0; s < positions[row]; ++s) dw.data[at + s] += scale * missing.data[at + s];
      }
    }
  });
}

// Where w < c, d/dw_tbs = factor; elsewhere d/dw_t'bs = factor for all t' < t, the summands of c.
Var coverage_penalty(std::span<const Var> weights,
                     std::span<const Index> positions,
                     std::span<const Index> steps,
                     real factor) {
  require_steps(weights, "coverage_penalty");
  Tape& tape = weights.front().tape();
  const Index rows = weights.front().shape()[0], width = weights.front().shape()[1],
              step_size = rows * width;
  bool* const is_less = tape.arena().array_of<bool>(std::ssize(weights) * step_size);  // w < c
  View covered = tape.zeros({rows, width});
  View loss = tape.allocate({rows});
  for (Index b = 0; b < rows; ++b) {
    real* c = covered.data + b * width;
    double total = 0;
    for (Index t = 0; t < steps[usize(b)]; ++t) {
      const real* w = weights[usize(t)].value().data + b * width;
      bool* less = is_less + t * step_size + b * width;
      for (Index s = 0; s < positions[usize(b)]; ++s) {
        less[s] = w[s] < c[s];
        total += static_cast<double>(less[s] ? w[s] : c[s]);
        c[s] += w[s];
      }
    }
    loss.data[b] = static_cast<real>(static_cast<double>(factor) * total);
  }
  return tape.record_if(loss, any_needs_gradient(weights), [=](View dloss) {
    for (Index b = 0; b < rows; ++b)
      for (Index s = 0; s < positions[usize(b)]; ++s) {
        const Index at = b * width + s;
        Index later = 0;  // later steps whose minimum is c
        for (Index t = steps[usize(b)] - 1; t >= 0; --t) {
          const bool less = is_less[t * step_size + at];
          if (View dw = weights[usize(t)].gradient())
            dw.data[at] += factor * dloss.data[b] * static_cast<real>(later + (less ? 1 : 0));
          if (!less) ++later;
        }
      }
  });
}

Var alignment_cross_entropy(std::span<const Var> weights,
                            std::span<const AlignedPair> pairs,
                            real factor) {
  require_steps(weights, "alignment_cross_entropy");
  constexpr real kEpsilon = real(1e-6);
  Tape& tape = weights.front().tape();
  const Index width = weights.front().shape()[1];
  View loss = tape.zeros({weights.front().shape()[0]});
  for (const AlignedPair& pair : pairs) {
    const real* now = weights[usize(pair.step)].value().data;
    loss.data[pair.row] -=
        factor * pair.share * exact::log(now[pair.row * width + pair.position] + kEpsilon);
  }
  return tape.record_if(loss, any_needs_gradient(weights), [=](View dloss) {
    for (const AlignedPair& pair : pairs) {
      Var step = weights[usize(pair.step)];
      View dw = step.gradient();
      if (!dw) continue;
      const Index at = pair.row * width + pair.position;
      dw.data[at] -=
          factor * dloss.data[pair.row] * pair.share / (step.value().data[at] + kEpsilon);
    }
  });
}

}  // namespace softalign
