// Gradients of all parameters but the tables, of a batch whose shards have run backward: one flat
// buffer. The shards leave lists of products; those of a weight are one long product, and different
// columns are computed by different threads.
#pragma once

#include <vector>

#include "framework/autodiff/tape.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

class WeightGradients {
 public:
  explicit WeightGradients(const ParameterStore& store);

  // For the first tape, which adds to it directly.
  real* data() { return numbers_.data(); }
  const real* data() const { return numbers_.data(); }
  void clear(Workers& workers);

  // Adds what the tapes hold, in the order of the tapes: the bits do not depend on the threads.
  // Returns the sum of the squares of all numbers.
  double gather(const std::vector<std::unique_ptr<Tape>>& tapes, Workers& workers);

 private:
  struct Weight {
    Index offset, rows, columns;
    std::vector<WeightProduct> products;
  };
  struct Piece {  // of the columns of a weight
    std::size_t weight;
    Index first, count;
  };

  std::vector<real> numbers_;
  std::vector<Weight> weights_;  // by offset
  std::vector<Piece> pieces_;
  std::vector<double> squares_;  // of the chunks of numbers_
};

}  // namespace softalign
