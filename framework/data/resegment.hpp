// Training sentences cut into other pieces in every epoch: BPE-dropout (Provilkov et al. 2020).
#pragma once

#include <cstdint>
#include <functional>

#include "framework/base/workers.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// The training split, in memory, with pieces as the dataset's dropout draws them for this epoch: more of them than
// the vocabulary's own, and sentences may be longer than the longest was. A portion that no epoch draws from keeps its
// own. A function of (dataset, seed, epoch); texts and links are left out. stop is asked now and then: true throws Interrupted.
Split resegmented(const Dataset& data,
                  std::uint64_t seed,
                  Index epoch,
                  Workers& workers,
                  const std::function<bool()>& stop = {});

}  // namespace softalign
