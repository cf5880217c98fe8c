// Training sentences cut into other pieces in every epoch: BPE-dropout (Provilkov et al. 2020).
#pragma once

#include <cstdint>
#include <functional>

#include "framework/base/workers.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// The training split, in memory, with pieces as the dataset's dropout draws them for this epoch. A pair keeps the
// pieces of the vocabulary where others would be more than the longest sentence of its side has, so that no
// batch outgrows what was estimated; so does one of a portion that no epoch draws from. A function of (dataset, seed,
// epoch); texts and links are left out. stop is asked now and then: true throws Interrupted.
Split resegmented(const Dataset& data,
                  std::uint64_t seed,
                  Index epoch,
                  Workers& workers,
                  const std::function<bool()>& stop = {});

}  // namespace softalign
