// What training minimises over a batch: factor * (sum of -log p of the target symbols, smoothed, and what
// is added to it).
#pragma once

#include "framework/base/types.hpp"

namespace softalign {

struct Objective {
  real factor = 1;
  real label_smoothing = 0;    // share of the uniform distribution over the symbols
  real doubly_stochastic = 0;  // lambda, see doubly_stochastic_penalty
  real guided_alignment = 0;   // weight of alignment_cross_entropy; Batch::links must be there
  // Scheduled sampling (Bengio et al. 2015), on a tape with noise.
  double truth = 1;     // probability that a step reads the true symbol
  bool argmax = false;  // what else it reads: the most probable symbol, or one drawn
};

}  // namespace softalign
