#include "framework/autodiff/weight_products.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

constexpr Index kRows = 512;  // put together for one product

}  // namespace

void add_weight_products(std::span<const WeightProducts> parts,
                         const WeightColumns& to,
                         Arena& scratch) {
  const Arena::Mark mark = scratch.mark();
  real *x = nullptr, *dy = nullptr;
  Index rows = 0;
  const auto compute = [&] {
    if (rows > 0)
      gemm(Matrix{x, rows, to.rows}.transpose(),
           {dy, rows, to.count},
           true,
           to.numbers + to.first,
           to.columns);
    rows = 0;
  };
  for_each_row(parts, [&](const WeightProduct& one, Index b, Index s) {
    // Rows beyond a sentence's end add nothing, and how many there are sets no bits.
    if (kernels::is_zero(one.dy.columns, one.dy.row(b, s))) return;
    const real* from = one.dy.row(b, s) + to.first;
    if (one.x.data == nullptr && one.made.make == nullptr) {
      compute();
      if (one.ids != nullptr)
        kernels::add(to.count, from, to.numbers + one.id(b, s) * to.columns + to.first);
      else
        for (Index row = 0; row < to.rows; ++row)
          kernels::add(to.count, from + row * to.columns, to.numbers + row * to.columns + to.first);
      return;
    }
    if (x == nullptr) {
      x = scratch.array({kRows, to.rows}).data;
      dy = scratch.array({kRows, to.count}).data;
    }
    if (one.made.make != nullptr)
      one.made.make(one.made.from, b, s, x + rows * to.rows);
    else
      std::copy_n(one.x.row(b, s), to.rows, x + rows * to.rows);
    std::copy_n(from, to.count, dy + rows * to.count);
    if (++rows == kRows) compute();
  });
  compute();
  scratch.rewind(mark);
}

}  // namespace softalign
