// The gradients of the groups of a batch (train.groups), on one rank or several, added in a fixed binary tree,
// ((0 + 1) + (2 + 3)) + ..., so that a sum depends only on the number of groups.
#pragma once

#include <vector>

#include "framework/autodiff/parameters.hpp"
#include "framework/base/ranks.hpp"
#include "framework/base/workers.hpp"
#include "framework/train/weight_gradients.hpp"

namespace softalign {

// The trained parameters that a rank updates, and whose optimiser state it holds: a slice of those outside tables,
// and one of the tables. A single rank owns all of them.
class OwnedParameters {
 public:
  OwnedParameters(const ParameterStore& store, const Ranks& ranks);

  struct Range {  // of the flat buffer
    Index begin, end;
    Index size() const { return end - begin; }
  };
  struct Ranges {
    Range dense, tables;
  };
  Ranges by(int slice) const;
  // Slices of weights begin at multiples of WeightGradients::kSquared, those of tables at rows.
  const Bounds& dense_bounds() const { return dense_; }
  const Bounds& table_bounds() const { return tables_; }

 private:
  Bounds dense_, tables_;
};

class GroupSum {
 public:
  GroupSum(const ParameterStore& store, const OwnedParameters& owned, Ranks& ranks);

  // Called before each group: gives the weights' gradients a buffer, if `add` took the last group's.
  void prepare(WeightGradients& weights);
  // Takes the gradients of this rank's next group.
  void add(WeightGradients& weights, const TableGradients& tables, Workers& workers);
  // Writes the sums over all groups: total for the rank's own parameters, partial for others. Collective.
  void finish(WeightGradients& weights, TableGradients& tables);

 private:
  using Rows = TableGradients::Rows;
  std::vector<real> sum_rows(std::size_t first, std::size_t count) const;
  void sum_tables(TableGradients& tables);

  struct Partial {  // the sum of 2^level groups
    int level;
    std::vector<real> numbers;
  };
  struct Table {
    Index offset, size;
  };
  const OwnedParameters& owned_;
  Ranks& ranks_;
  std::vector<Table> tables_;
  std::vector<Partial> partial_;
  std::vector<std::vector<real>> free_;
  std::vector<std::vector<Rows>> rows_;    // of each group
  std::vector<std::vector<Token>> union_;  // rows of each table that any group touched
  std::vector<real> scratch_;
};

}  // namespace softalign
