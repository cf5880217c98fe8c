// Gradients of all parameters but the tables: one flat buffer for a batch, however many shards. Their
// tapes leave lists of products; those of a weight are one long product, and different columns are
// computed by different threads.
#pragma once

#include <vector>

#include "framework/autodiff/tape.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

class WeightGradients {
 public:
  explicit WeightGradients(const ParameterStore& store);

  const real* data() const { return numbers_.data(); }
  void clear(Workers& workers);

  // Adds what the tapes hold, in their order. The bits do not depend on the threads, nor on how many
  // tapes come at once.
  void add(std::span<const std::unique_ptr<Tape>> tapes, Workers& workers);
  double sum_of_squares(Workers& workers);

 private:
  struct Summand {  // products, then direct [rows, columns], which may be null
    std::vector<WeightProduct> products;
    const real* direct;
  };
  struct Weight {
    Index offset, rows, columns;
    std::vector<Summand> summands;  // of the tapes
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
