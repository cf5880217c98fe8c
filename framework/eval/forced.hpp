// Forced decoding: what a model, or an ensemble, makes of target sentences that are given.
#pragma once

#include "framework/eval/search.hpp"

namespace softalign {

struct Forced {
  Hypothesis hypothesis;    // the target as one, finished, with its log probabilities and alignment
  std::vector<Token> best;  // [steps] the most probable symbol after those before it
};

// targets [B], without </s>. The tape is used up and reset.
std::vector<Forced> force(const Scorer& scorer,
                          Tape& tape,
                          const SourceBatch& source,
                          std::span<const std::span<const Token>> targets);

}  // namespace softalign
