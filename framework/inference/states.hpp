// Principal components of a trained model's vectors: its annotations, and the readouts that its decoder passes to
// the output layer, on test sentences with their references.
#pragma once

#include <vector>

#include "framework/base/array.hpp"
#include "framework/base/json.hpp"
#include "framework/inference/trained.hpp"

namespace softalign {

struct PrincipalComponents {
  std::vector<double> explained;   // [K] shares of the variance, descending
  xt::xtensor<double, 2> vectors;  // [N,K]; the largest weight of a component is positive
};

// Returns at most `most` components of vectors [N,D]. Throws DataError for numbers that are not finite.
PrincipalComponents principal_components(const xt::xtensor<double, 2>& vectors, std::size_t most);

// Returns "annotations" and "readouts" of the first test sentences, each with `explained` and, one value per vector,
// sentence, position, symbol (unless sources are frames) and `components`. Throws DataError if the data is missing.
JsonObject states_json(const TrainedRuns& runs, Index sentences = 100);

}  // namespace softalign
