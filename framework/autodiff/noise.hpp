// What random numbers of a training step are functions of, besides the name of the layer that asks: never of
// threads, shards or the place of a sentence in its batch.
#pragma once

#include <cstdint>
#include <span>

#include "framework/base/types.hpp"

namespace softalign {

struct Noise {
  std::uint64_t seed = 0;                // of the run
  std::uint64_t update = 0;              // from 1
  std::span<const Index> examples = {};  // [B], the rows' places in the training data
};

}  // namespace softalign
