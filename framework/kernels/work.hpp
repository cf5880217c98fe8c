// How much is computed, counted where it is computed; seq/cost.hpp asks a model. What is counted:
//
//   multiplications  those whose products are summed along an axis: m n k of a matrix product (so of convolutions,
//                    too), U of an additive or dot energy, 2 U with coverage, D of a position in a weighted sum, if its weight
//                    is not 0
//   energies         scores of a target position with a source position, each head's; attention to the own side has
//                    multiplications and no energies
//
// Not counted is what is done number by number (gates, norms, masks, softmax): a small share.
#pragma once

#include <span>

#include "framework/base/types.hpp"

namespace softalign {

struct Work {
  Index multiplications = 0;
  Index energies = 0;
};

// All of the calling thread's; who wants to know what something takes looks before and after it.
Work& work_of_thread();

// So many for each position of each sentence, from where it begins; begins empty: from 0.
void count_energies(std::span<const Index> lengths,
                    Index each = 1,
                    std::span<const Index> begins = {});

}  // namespace softalign
