// Evaluation by several ranks (base/ranks.hpp): each evaluates some batches, and the first rank collects the results
// of all examples.
#pragma once

#include "framework/base/ranks.hpp"
#include "framework/eval/evaluator.hpp"

namespace softalign {

// Completes the first rank's results with those of the examples that other ranks have evaluated; their own results
// stay incomplete. examples: that this rank has evaluated. Collective.
void collect(Ranks& ranks, EvaluatedSplit& results, std::span<const Index> examples);

}  // namespace softalign
