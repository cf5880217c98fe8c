// Counts work where it is computed, for seq/cost.hpp:
//
//   multiplications  whose products are summed along an axis: m n k for a matrix product (and so for a convolution),
//                    U for an additive or dot energy, 2 U with coverage, D for a position of a weighted sum if its
//                    weight is not 0
//   energies         scores of a target position with a source position, for each head; self-attention has
//                    multiplications, but no energies
//
// Elementwise work (gates, norms, masks, softmax), a small share, is not counted.
#pragma once

#include <span>

#include "framework/base/types.hpp"

namespace softalign {

struct Work {
  Index multiplications = 0;
  Index energies = 0;
};

// Returns the totals of the calling thread; take the difference before and after a computation.
Work& work_of_thread();

// Counts `each` energies for each valid position [begins_b, lengths_b) of each sentence; begins empty: from 0.
void count_energies(std::span<const Index> lengths,
                    Index each = 1,
                    std::span<const Index> begins = {});

}  // namespace softalign
