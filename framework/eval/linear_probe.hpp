// Linear probes of vectors: ridge regression to classes, and the number of directions that vectors use. No linear
// algebra library is used, because the bits of their results vary (contract 10); the tests compare with one.
#pragma once

#include <limits>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Vectors [count, width], row-major.
struct Vectors {
  Index width = 0;
  std::vector<double> numbers = {};

  Index count() const { return width == 0 ? 0 : std::ssize(numbers) / width; }
  const double* operator[](Index i) const { return numbers.data() + i * width; }
};

// Returns the singular values of the centred vectors divided by the square root of their number, which are the standard
// deviations along the principal directions: min(count, width) values in descending order.
std::vector<double> singular_values(const Vectors& vectors);

// Returns exp of the entropy of the singular values divided by their sum (Roy and Vetterli 2007): the number of
// directions in use. 0 if all values are 0.
double effective_rank(const std::vector<double>& singular_values);

// Counts of a probe on held-out vectors.
struct ProbeCounts {
  Index right = 0;
  Index most_frequent = 0;  // hits if the answer is always the most frequent class of the training
  Index all = 0;
};

// Ridge regression from vectors to one-hot classes, both centred. It is trained on every second vector (the first,
// third, ...) and tested on the rest. Its equations are factored once for any classes of the vectors.
class RidgeProbe {
 public:
  // ridge: in units of the vectors' mean squared length. taught: the largest number of training vectors.
  RidgeProbe(const Vectors& vectors, double ridge, Index taught = kMostTaught);

  // classes: [count], one for each vector. The answer is the class with the largest value, the first in a tie.
  ProbeCounts ask(const std::vector<Index>& classes) const;

 private:
  static constexpr Index kMostTaught = std::numeric_limits<Index>::max();

  Vectors taught_, asked_;      // minus the mean of the training vectors
  std::vector<double> factor_;  // Cholesky factor of the normal equations, [width,width]
};

}  // namespace softalign
