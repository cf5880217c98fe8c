// What random numbers of a training step are functions of, besides the name of the layer that asks: never of
// threads, parts or the place of a sentence in its batch.
#pragma once

#include <cstdint>
#include <span>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

namespace softalign {

struct Noise {
  std::uint64_t seed = 0;                // of the run
  std::uint64_t update = 0;              // from 1
  std::span<const Index> examples = {};  // [B], the rows' places in the training data

  // The numbers of a layer at this update; `named` is RandomStream(0, "noise/" + its name).
  RandomStream stream(const RandomStream& named) const { return named.within(seed, update); }
  // Which round of them belongs to a row of the batch at a step; both below 2^32.
  std::uint64_t round(Index row, Index step) const {
    return static_cast<std::uint64_t>(examples[usize(row)]) << 32 |
           static_cast<std::uint64_t>(step);
  }
};

}  // namespace softalign
