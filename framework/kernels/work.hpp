// Counts work where it is computed, for seq/cost.hpp. Counted are:
//
//   multiplications  those whose products are summed along an axis: m n k of a matrix product (so of convolutions,
//                    too), U of an additive or dot energy, 2 U with coverage, D of a position in a weighted sum, if its weight
//                    is not 0
//   energies         scores of a target position with a source position, each head's; attention to the own side has
//                    multiplications and no energies
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

// The total of the calling thread; take the difference before and after a computation.
Work& work_of_thread();

// Counts this number for each position of each sentence from `begins` on; begins empty: from 0.
void count_energies(std::span<const Index> lengths,
                    Index each = 1,
                    std::span<const Index> begins = {});

}  // namespace softalign
