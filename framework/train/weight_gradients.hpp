// Gradients of all parameters but the tables: one flat buffer for a batch, however many parts. Their
// tapes leave lists of products; those of a weight are one long product, and different columns are
// computed by different threads.
#pragma once

#include <vector>

#include "framework/autodiff/tape.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

class WeightGradients {
 public:
  WeightGradients(const ParameterStore& store, int threads);

  real* data() { return numbers_.data(); }
  const real* data() const { return numbers_.data(); }
  void clear(Workers& workers);

  // Adds what the tapes of the parts of a batch hold. The bits depend neither on the parts nor on the threads.
  void add(std::span<const Tape* const> tapes, Workers& workers);
  double sum_of_squares(Workers& workers);

 private:
  struct Weight {
    Index offset, rows, columns;
    std::vector<WeightProducts> parts;
  };
  struct Piece {  // of the columns of a weight
    std::size_t weight;
    Index first, count;
  };
  Weight& weight_at(Index offset);
  void compute(const Piece& piece);

  std::vector<real> numbers_;
  std::vector<Weight> weights_;  // by offset
  std::vector<Piece> pieces_;
  std::vector<double> squares_;  // of the chunks of numbers_
};

}  // namespace softalign
