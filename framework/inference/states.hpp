// Principal components of a trained model's vectors: its annotations, and what its decoder hands to the output
// layer, on test sentences with their references.
#pragma once

#include <vector>

#include "framework/base/array.hpp"
#include "framework/base/json.hpp"
#include "framework/inference/trained.hpp"

namespace softalign {

struct PrincipalComponents {
  std::vector<double> explained;   // [K] shares of the variance, falling
  xt::xtensor<double, 2> vectors;  // [N,K]; the largest weight of a component is positive
};

// The components of vectors [N,D], at most `most` of them. Throws DataError for numbers that are not finite.
PrincipalComponents principal_components(const xt::xtensor<double, 2>& vectors, std::size_t most);

// "annotations" and "readouts" of the first test sentences, each with `explained` and, a value a vector, sentence,
// position, symbol (of sources that are symbols) and `components`. Throws DataError where the data is missing.
JsonObject states_json(const TrainedRuns& runs, Index sentences = 100);

}  // namespace softalign
