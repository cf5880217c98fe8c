// One number for each seed of an experiment, together. What varies here is the training; how far a
// number depends on the test sentences is significance.hpp's business, and the two are never added.
#pragma once

#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

struct Seeds {
  double mean = 0;
  double deviation = 0;  // of the sample (n - 1); 0 for one seed
  Index count = 0;
};
Seeds over_seeds(const std::vector<double>& values);

// The place of the one value that is best; -1 when two are, or none is a number.
int best_of(const std::vector<double>& values, bool higher_is_better);

}  // namespace softalign
