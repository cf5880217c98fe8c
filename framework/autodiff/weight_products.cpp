#include "framework/autodiff/weight_products.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

constexpr Index kRows = 512;   // of one product, at most
constexpr Index kStaged = 16;  // that are put in the order of a product together

// dw += x^T dy of rows that come one at a time: x [dw.rows], dy [dw.count].
class RowsOfProduct {
 public:
  // most: rows that come at most. Products have equal depths: 1,200 rows are 400, 400 and 400.
  RowsOfProduct(const WeightColumns& dw, Index most, Arena& arena)
      : dw_(dw),
        depth_(equal_depth(most)),
        x_(dw.rows, depth_, arena.array({ColumnPanels::size(dw.rows, depth_)}).data),
        dy_(depth_, dw.count, arena.array({RowPanels::size(depth_, dw.count)}).data),
        staged_x_(arena.array({kStaged, dw.rows}).data),
        staged_dy_(arena.array({kStaged, dw.count}).data) {}

  real* next_x() const { return staged_x_ + staged_ * dw_.rows; }
  real* next_dy() const { return staged_dy_ + staged_ * dw_.count; }
  // Takes what was written there.
  void take() {
    if (++staged_ == kStaged) put();
    if (put_ == depth_) compute();
  }
  void compute() {
    put();
    if (put_ > 0)
      gemm(
          x_.first_columns(put_), dy_.first_rows(put_), true, dw_.numbers + dw_.first, dw_.columns);
    put_ = 0;
  }

 private:
  static Index equal_depth(Index most) {
    const Index products = std::max<Index>(1, (most + kRows - 1) / kRows),
                depth = (most + products - 1) / products;
    return (depth + kStaged - 1) / kStaged * kStaged;
  }
  void put() {
    x_.put(put_, {staged_x_, staged_, dw_.rows});
    dy_.put(put_, {staged_dy_, staged_, dw_.count});
    put_ += std::exchange(staged_, 0);
  }

  const WeightColumns& dw_;
  Index depth_;
  ColumnPanels x_;
  RowPanels dy_;
  real *staged_x_, *staged_dy_;
  Index staged_ = 0, put_ = 0;
};

}  // namespace

void add_weight_products(std::span<const WeightProducts> parts,
                         const WeightColumns& to,
                         Arena& scratch) {
  const Arena::Mark mark = scratch.mark();
  const auto is_product = [](const WeightProduct& one) {
    return one.x.data != nullptr || one.made.make != nullptr;
  };
  Index most = 0;
  for (const WeightProducts& products : parts)
    for (const WeightProduct& one : products)
      if (is_product(one)) most += one.dy.sentences * one.dy.positions;
  std::optional<RowsOfProduct> rows;
  if (most > 0) rows.emplace(to, most, scratch);
  for_each_row(parts, [&](const WeightProduct& one, Index b, Index s) {
    // Rows beyond a sentence's end add nothing, and how many there are sets no bits.
    if (kernels::is_zero(one.dy.columns, one.dy.row(b, s))) return;
    const real* from = one.dy.row(b, s) + to.first;
    if (is_product(one)) {
      if (one.made.make != nullptr)
        one.made.make(one.made.from, b, s, rows->next_x());
      else
        std::copy_n(one.x.row(b, s), to.rows, rows->next_x());
      std::copy_n(from, to.count, rows->next_dy());
      rows->take();
      return;
    }
    if (rows) rows->compute();
    if (one.ids != nullptr)
      kernels::add(to.count, from, to.numbers + one.id(b, s) * to.columns + to.first);
    else
      for (Index row = 0; row < to.rows; ++row)
        kernels::add(to.count, from + row * to.columns, to.numbers + row * to.columns + to.first);
  });
  if (rows) rows->compute();
  scratch.rewind(mark);
}

}  // namespace softalign
