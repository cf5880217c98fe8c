// Gradients of all parameters, summed over the parts of a batch. All except lookup tables share one flat
// buffer, for any number of parts: tapes leave lists of products; those of a weight form one long product,
// whose columns are divided among threads.
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

  // Adds the gradients on the tapes of the parts of a batch. The bits depend neither on the parts nor on the
  // threads.
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

// Gradients of lookup tables: the rows that a batch touched, summed over the parts of a batch. A table of
// 30,000 rows may have gradients in a thousand rows; zeros are never stored.
class TableGradients {
 public:
  explicit TableGradients(const ParameterStore& store);

  void clear();
  // Adds what the tapes of the parts of a batch hold.
  void add(std::span<const Tape* const> tapes, Workers& workers);
  double sum_of_squares(Workers& workers);
  // Writes numbers [begin, begin + count) of the flat buffer, which must be in the tables, to `to`,
  // zeros where there is no gradient. Returns false, without writing, if there is no gradient at
  // all.
  bool read(Index begin, Index count, real* to) const;

 private:
  struct Table {
    Index offset, rows, size;
    std::vector<std::int32_t> slot;  // of each row; -1: not touched
    std::vector<Token> touched;      // by slot, in the order of the first touch
    std::vector<real> sums;          // [slots, size]
    double squares = 0;
    std::vector<WeightProducts> parts;
  };
  static void add(std::span<const Tape* const> tapes, Table& table);

  std::vector<Table> tables_;
};

}  // namespace softalign
