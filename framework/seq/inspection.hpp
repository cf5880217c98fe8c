// Inspects a teacher-forced pass: reads or replaces its attention weights, also of single heads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/base/view.hpp"

namespace softalign {

// The weights of single attention heads, collected while a batch is evaluated: from attentions with heads and
// decoders with self-attention through AttentionMemory::inspection, from encoders with self-attention through
// EncoderInput::heads. Valid until the end of the tape's step.
struct HeadWeights {
  struct Part {
    Index layer;  // of the decoder, or of the encoder, from 0
    Index step;   // the first target position; of an encoder 0
    // Attention: [T,B,H,S], rows sum to 1, 0 at padding. Encoder: [S,B,H,S], rows of positions that attend
    // to nothing are 0, and rows of padding are never read. Self-attention of a decoder: [T,B,H,U], U = step
    // + T, the positions read so far.
    View weights;
  };
  std::vector<Part> parts;

  void add(Index layer, Index step, View weights) { parts.push_back({layer, step, weights}); }
};

// Overwrites the weights [S] of one sentence, without padding, at a step.
using ChangeWeights = std::function<void(Index step, std::span<real> weights)>;

struct Inspection {
  HeadWeights* heads = nullptr;           // receives the weights of single heads
  HeadWeights* own_heads = nullptr;       // receives self-attention weights, if Decoder::attends()
  const ChangeWeights* change = nullptr;  // only if Attention::weights_can_change()
  // true: attentions that read a single position return the probabilities from which it is drawn.
  bool distribution = false;
};

}  // namespace softalign
