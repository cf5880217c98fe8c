// A look into a teacher-forced pass, to see or to change its attention weights, of single heads too.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/base/view.hpp"

namespace softalign {

// The weights of single attention heads, gathered while a batch is evaluated: an attention that has
// several puts them here when AttentionMemory::inspection says where, and an encoder whose positions attend to
// each other when EncoderInput::heads does. Nothing is kept beyond the tape's step.
struct HeadWeights {
  struct Part {
    Index layer;  // of the decoder, or of the encoder, from 0
    Index step;   // the first of its target positions; of an encoder 0
    View
        weights;  // [T,B,H,S], rows sum to 1, 0 at padding; of an encoder [S,B,H,S], rows of positions
                  // that attend to nothing are 0, and those of padding are never read
  };
  std::vector<Part> parts;

  void add(Index layer, Index step, View weights) { parts.push_back({layer, step, weights}); }
};

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
