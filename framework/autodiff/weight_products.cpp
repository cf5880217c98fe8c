#include "framework/autodiff/weight_products.hpp"

#include <algorithm>

namespace softalign {
namespace {

constexpr Index kRows = 512;  // put together for one product

void append(Matrix from, Index row, Index rows, Index first, Index count, real* to) {
  for (Index i = 0; i < rows; ++i)
    std::copy_n(from.data + (row + i) * from.stride + first, count, to + i * count);
}

}  // namespace

void add_weight_products(std::span<const WeightProduct> products,
                         Index first,
                         Index count,
                         real* dw,
                         Index stride,
                         Arena& scratch) {
  if (products.empty()) return;
  const Arena::Mark mark = scratch.mark();
  const Index in = products.front().x.columns;
  real* x = scratch.array({kRows, in}).data;
  real* dy = scratch.array({kRows, count}).data;
  Index rows = 0;
  const auto compute = [&] {
    gemm(Matrix{x, rows, in}.transpose(), {dy, rows, count}, true, dw + first, stride);
    rows = 0;
  };
  for (const WeightProduct& one : products) {
    if (one.x.rows >= kRows) {  // large enough as it is
      if (rows > 0) compute();
      gemm(one.x.transpose(),
           {one.dy.data + first, one.dy.rows, count, one.dy.stride},
           true,
           dw + first,
           stride);
      continue;
    }
    for (Index row = 0; row < one.x.rows;) {
      const Index more = std::min(one.x.rows - row, kRows - rows);
      append(one.x, row, more, 0, in, x + rows * in);
      append(one.dy, row, more, first, count, dy + rows * count);
      rows += more;
      row += more;
      if (rows == kRows) compute();
    }
  }
  if (rows > 0) compute();
  scratch.rewind(mark);
}

}  // namespace softalign
