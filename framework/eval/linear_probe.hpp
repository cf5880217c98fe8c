// Linear probes of vectors: ridge regression to classes, and the number of directions that vectors use. No
// linear algebra library is used, because their bits vary (contract 10); the tests compare with one.
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

// The standard deviations along the principal directions, falling, of the vectors less their mean, divided by
// the square root of their number; min(count, width) of them.
std::vector<double> singular_values(const Vectors& vectors);

// exp of the entropy of the singular values divided by their sum (Roy and Vetterli 2007): how many directions
// are used. 0 where all are 0.
double effective_rank(const std::vector<double>& singular_values);

// The counts of a probe on the vectors that it has not learnt from.
struct ProbeCounts {
  Index right = 0;
  Index most_frequent = 0;  // hits of always guessing the class that is most frequent in training
  Index all = 0;
};

// Ridge regression from vectors to one-hot classes, both centred. It learns from every second vector (the first,
// third, ...) and is asked about the others. Its equations are factored once for all classes that the vectors may have.
class RidgeProbe {
 public:
  // ridge: in units of the vectors' mean squared length. taught: it learns from the first ones alone.
  RidgeProbe(const Vectors& vectors, double ridge, Index taught = kMostTaught);

  // classes [count], one for each vector. The answer is the class with the largest value, the first in a tie.
  ProbeCounts ask(const std::vector<Index>& classes) const;

 private:
  static constexpr Index kMostTaught = std::numeric_limits<Index>::max();

  Vectors taught_, asked_;      // less the mean of those taught
  std::vector<double> factor_;  // Cholesky's of the normal equations, [width,width]
};

}  // namespace softalign
