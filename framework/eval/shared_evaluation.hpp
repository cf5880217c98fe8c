// Evaluation by several ranks (base/ranks.hpp): each rank evaluates some of the batches, and the first one collects the
// results of all examples.
#pragma once

#include "framework/base/ranks.hpp"
#include "framework/eval/evaluator.hpp"

namespace softalign {

// Completes the first rank's results with the examples that other ranks evaluated; results of the other ranks stay
// incomplete. examples: the ones that this rank evaluated. Collective.
void collect(Ranks& ranks, EvaluatedSplit& results, std::span<const Index> examples);

}  // namespace softalign
