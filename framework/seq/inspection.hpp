// What somebody wants to see of a teacher-forced pass, or to change in it.
#pragma once

#include <functional>
#include <span>

#include "framework/base/types.hpp"
#include "framework/seq/head_weights.hpp"

namespace softalign {

// Writes other weights over those [S] of one sentence, without padding, at a step.
using ChangeWeights = std::function<void(Index step, std::span<real> weights)>;

struct Inspection {
  HeadWeights* heads =
      nullptr;  // where the weights of single heads go, valid as long as the tape's step
  const ChangeWeights* change = nullptr;  // only where Attention::weights_can_change()
  bool distribution =
      false;  // attentions that look at one position show the weights that they draw it from
};

}  // namespace softalign
