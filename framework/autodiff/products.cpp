#include "framework/autodiff/products.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

PackedMatrix WeightPacks::pack(Matrix w) {
  std::lock_guard lock(mutex_);
  for (const PackedMatrix& pack : packs_)
    if (pack.matrix().data == w.data && pack.matrix().transposed == w.transposed) return pack;
  return packs_.emplace_back(w, arena_.array({PackedMatrix::size(w)}).data);
}

void WeightPacks::forget() {
  arena_.rewind({});
  packs_.clear();
}

namespace {

constexpr Index kRows = 512;   // maximum of one product
constexpr Index kStaged = 16;  // rows that are reordered together

// Computes dw += x^T dy from rows that arrive one at a time: x [dw.rows], dy [dw.count].
class RowsOfProduct {
 public:
  // most: maximum number of rows, split into products of equal depth: 1,200 into 3 of 400.
  RowsOfProduct(const WeightColumns& dw, Index most, Arena& arena)
      : dw_(dw),
        depth_(equal_depth(most)),
        x_(dw.rows, depth_, arena.array({ColumnPanels::size(dw.rows, depth_)}).data),
        dy_(depth_, dw.count, arena.array({RowPanels::size(depth_, dw.count)}).data),
        staged_x_(arena.array({kStaged, dw.rows}).data),
        staged_dy_(arena.array({kStaged, dw.count}).data) {}

  real* next_x() const { return staged_x_ + staged_ * dw_.rows; }
  real* next_dy() const { return staged_dy_ + staged_ * dw_.count; }
  // Takes the row that was written to next_x() and next_dy().
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
    // Skips rows of zeros, as after a sentence's end, so that their number does not change the bits.
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

namespace {

constexpr Index kSteps = 32;  // collected into one product

}  // namespace

void OuterProducts::add(View gradient, View rows, View columns, std::span<const Index> lengths) {
  const Index sentences = gradient.shape[0], positions = gradient.shape[1],
              size = gradient.shape[2];
  auto one = std::find_if(put_off_.begin(), put_off_.end(), [&](const PutOff& other) {
    return other.gradient.data == gradient.data;
  });
  if (one == put_off_.end()) {
    Index* steps = arena_.array_of<Index>(sentences);
    std::fill_n(steps, sentences, Index{0});
    put_off_.push_back({gradient,
                        lengths.data(),
                        steps,
                        arena_.array({sentences, kSteps, positions}).data,
                        arena_.array({sentences, kSteps, size}).data});
    one = put_off_.end() - 1;
  }
  for (Index b = 0; b < sentences; ++b) {
    const real *row = rows.data + b * positions, *column = columns.data + b * size;
    if (kernels::is_zero(lengths[usize(b)], row) || kernels::is_zero(size, column)) continue;
    const Index at = b * kSteps + one->steps[b];
    std::copy_n(row, positions, one->rows + at * positions);
    std::copy_n(column, size, one->columns + at * size);
    if (++one->steps[b] == kSteps) compute(*one, b);
  }
}

void OuterProducts::compute(const PutOff& one) {
  for (Index b = 0; b < one.gradient.shape[0]; ++b)
    if (one.steps[b] > 0) compute(one, b);
}

void OuterProducts::compute(const PutOff& one, Index b) {
  const Index positions = one.gradient.shape[1], size = one.gradient.shape[2], steps = one.steps[b];
  const Matrix rows{one.rows + b * kSteps * positions, steps, one.lengths[b], positions},
      columns{one.columns + b * kSteps * size, steps, size};
  gemm(rows.transpose(), columns, true, one.gradient.data + b * positions * size, size);
  one.steps[b] = 0;
}

void OuterProducts::finish(const real* gradients, Index size) {
  const auto here = [=](const PutOff& one) {
    return one.gradient.data >= gradients && one.gradient.data < gradients + size;
  };
  for (const PutOff& one : put_off_)
    if (here(one)) compute(one);
  std::erase_if(put_off_, here);
}

void OuterProducts::finish() {
  for (const PutOff& one : put_off_) compute(one);
  put_off_.clear();
}

void OuterProducts::reset() {
  arena_.rewind({});
  put_off_.clear();
}

}  // namespace softalign
