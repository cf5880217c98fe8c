// Linear probes of vectors: ridge regression to classes, and the number of directions that vectors use.
// Everything is computed from the Gram matrix [N,N], so that few sentences of wide states cost little. No
// linear algebra library is used, because their bits vary (contract 10); the tests compare with one.
#pragma once

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

// Every second vector (the first, third, ...) trains a ridge regression from the vector to its one-hot class,
// both centred; `ridge` is in units of the vectors' mean squared length. Counts the remaining vectors that are
// assigned to their class: the one with the largest value, the first in a tie.
struct ProbeCounts {
  Index right = 0;
  Index most_frequent = 0;  // hits of always guessing the class that is most frequent in training
  Index all = 0;
};
ProbeCounts probe_classes(const Vectors& vectors, const std::vector<Index>& classes, double ridge);

}  // namespace softalign
