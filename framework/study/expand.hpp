// The configurations of a sweep, without seeds: what its method and conditions make of its
// parameters.
#pragma once

#include <string>
#include <vector>

#include "framework/study/sweep.hpp"

namespace softalign {

using Configuration = std::vector<Override>;  // in the order of the parameters

struct Configurations {
  std::vector<Configuration> list;
  Index excluded = 0;  // by conditions
  Index equal = 0;     // made equal to an earlier one by conditions
};

// At most `most`, always the first ones. Grids vary the last parameter fastest. A drawn
// configuration that is excluded, or equal to an earlier one, is drawn again. Throws SpecError when
// the conditions leave nothing.
Configurations expand(const Sweep& sweep, Index most);

}  // namespace softalign
