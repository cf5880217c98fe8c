// The fused projection with its loss (ops/cross_entropy.hpp) as an operation on one tape.
#pragma once

#include <algorithm>
#include <span>

#include "framework/base/types.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

// features [..., R], N rows, w [R,V] (transposed: [V,R]), bias [V], targets [N].
inline TokenLosses projected_cross_entropy(Var features,
                                           Var w,
                                           Var bias,
                                           std::span<const Token> targets,
                                           real factor,
                                           real smoothing = 0,
                                           Tape::Weight how = Tape::Weight::as_it_is) {
  Tape& tape = features.tape();
  const Index rows = std::ssize(targets);
  const View nll = tape.zeros({rows}), uniform = tape.zeros({rows}),
             losses = tape.zeros({features.shape().sentences()});
  Token* const best = tape.arena().array_of<Token>(rows);
  std::fill_n(best, rows, Token{-1});
  const Matrix stored{w.value().data, w.shape()[0], w.shape()[1]};
  const ProjectedRows part{
      features.value(), targets, features.gradient().data, nll.data, uniform.data, best};
  const ProjectedLoss loss{how == Tape::Weight::transposed ? stored.transpose() : stored,
                           bias.value().data,
                           factor,
                           smoothing,
                           tape.training() ? tape.whole_gradient(w) : nullptr,
                           tape.training() ? tape.whole_gradient(bias) : nullptr};
  Workers alone(1);
  project_and_compare({&part, 1}, loss, alone, tape.gradient_arena());
  const Index steps = rows / losses.size();
  for (Index i = 0; i < rows; ++i) {
    const double smoothed =
        (1 - static_cast<double>(smoothing)) * static_cast<double>(nll.data[i]) +
        static_cast<double>(smoothing) * static_cast<double>(uniform.data[i]);
    losses.data[i / steps] += static_cast<real>(static_cast<double>(factor) * smoothed);
  }
  const auto count = usize(rows);
  return {tape.record_if(losses, true, [](View) {}), {nll.data, count}, {best, count}};
}

}  // namespace softalign
