// Gradients of all parameters, summed over the parts of a batch. All except lookup tables share one flat
// buffer, for any number of parts: each tape has a list of products; the products of a weight form one long
// product, whose columns are divided among threads.
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
  std::vector<real>& numbers() { return numbers_; }
  void clear(Workers& workers);

  // Adds the gradients on the tapes of the parts of a batch. The bits depend neither on the parts nor on the
  // threads.
  void add(std::span<const Tape* const> tapes, Workers& workers);
  // Returns the sums of squares of pieces of the numbers [begin, end), each added in order. begin is a
  // multiple of kSquared, the size of a piece.
  static constexpr Index kSquared = 1 << 14;
  std::span<const double> squares(Index begin, Index end, Workers& workers);

 private:
  struct Weight {
    Index offset, rows, columns;
    std::vector<WeightProducts> parts;
  };
  struct Piece {  // a range of columns of a weight
    std::size_t weight;
    Index first, count;
  };
  Weight& weight_at(Index offset);
  void compute(const Piece& piece);

  std::vector<real> numbers_;
  std::vector<Weight> weights_;  // by offset
  std::vector<Piece> pieces_;
  std::vector<double> squares_;  // one for each chunk of numbers_
};

// Gradients of lookup tables: the rows that a batch touched, summed over the parts of a batch. A table of
// 30,000 rows may have gradients in a thousand rows; zeros are never stored.
class TableGradients {
 public:
  explicit TableGradients(const ParameterStore& store);

  // The rows of one table, ascending.
  struct Rows {
    std::vector<Token> ids;
    std::vector<real> numbers;  // [ids, size]
  };

  void clear();
  // Adds the gradients on the tapes of the parts of a batch.
  void add(std::span<const Tape* const> tapes, Workers& workers);
  std::vector<Rows> rows() const;  // of each table
  void set_rows(const std::vector<Rows>& rows);
  // Returns the sum of squares of each row in [begin, end) of the flat buffer, by table, in order.
  std::span<const std::vector<double>> squares(Index begin, Index end, Workers& workers);
  // Writes numbers [begin, begin + count) of the flat buffer, which must be in the tables, to `to`,
  // with zeros for rows without a gradient. Returns false, without writing, if no row has one.
  bool read(Index begin, Index count, real* to) const;

 private:
  struct Table {
    Index offset, rows, size;
    std::vector<std::int32_t> slot;  // of each row; -1: not touched
    std::vector<Token> touched;      // by slot, in the order of the first touch
    std::vector<real> sums;          // [slots, size]
    std::vector<WeightProducts> parts;

    real* row(Token id);  // adds a row of zeros if it was not touched
  };
  static void add(std::span<const Tape* const> tapes, Table& table);

  std::vector<Table> tables_;
  std::vector<std::vector<double>> squares_;  // by table
};

}  // namespace softalign
