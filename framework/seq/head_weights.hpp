// The weights of single attention heads, gathered while a batch is evaluated: an attention that has
// several puts them here when AttentionMemory::heads says where. Nothing is kept beyond the tape's step.
#pragma once

#include <vector>

#include "framework/base/view.hpp"

namespace softalign {

struct HeadWeights {
  struct Part {
    Index layer;   // of the decoder, from 0
    Index step;    // the first of its target positions
    View weights;  // [T,B,H,S], rows sum to 1, 0 at padding
  };
  std::vector<Part> parts;

  void add(Index layer, Index step, View weights) { parts.push_back({layer, step, weights}); }
};

}  // namespace softalign
