#include "framework/autodiff/weight_products.hpp"

#include <algorithm>

#include "framework/kernels/transpose.hpp"

namespace softalign {
namespace {

constexpr Index kRows = 256;    // put together before a gradient is computed
constexpr Index kFewRows = 64;  // below these, transposing in the product costs more than a copy

void append(Matrix rows, Index first, Index count, real* to) {
  for (Index i = 0; i < count; ++i)
    std::copy_n(rows.data + (first + i) * rows.stride, rows.columns, to + i * rows.columns);
}

}  // namespace

void WeightProducts::add_gradient(Matrix x, Matrix dy, real* dw) {
  if (x.rows >= kRows) {
    gemm(x.transpose(), dy, true, dw, dy.columns);
    return;
  }
  auto one = std::find_if(
      put_off_.begin(), put_off_.end(), [&](const PutOff& other) { return other.dw == dw; });
  if (one == put_off_.end()) {
    put_off_.push_back({dw,
                        x.columns,
                        dy.columns,
                        0,
                        arena_.array({kRows, x.columns}).data,
                        arena_.array({kRows, dy.columns}).data});
    one = put_off_.end() - 1;
  }
  for (Index first = 0; first < x.rows;) {
    const Index count = std::min(x.rows - first, kRows - one->rows);
    append(x, first, count, one->x + one->rows * one->in);
    append(dy, first, count, one->dy + one->rows * one->out);
    one->rows += count;
    first += count;
    if (one->rows == kRows) compute(*one);
  }
}

void WeightProducts::compute(PutOff& one) {
  gemm(Matrix{one.x, one.rows, one.in}.transpose(),
       {one.dy, one.rows, one.out},
       true,
       one.dw,
       one.out);
  one.rows = 0;
}

void WeightProducts::finish() {
  for (PutOff& one : put_off_)
    if (one.rows > 0) compute(one);
}

Matrix WeightProducts::transpose(Matrix w, Index rows) {
  if (rows >= kFewRows) return w.transpose();
  for (const Copy& copy : copies_)
    if (copy.of == w.data) return {copy.transposed, w.columns, w.rows};
  real* to = arena_.array({w.columns, w.rows}).data;
  softalign::transpose(w, to, w.rows);
  copies_.push_back({w.data, to});
  return {to, w.columns, w.rows};
}

void WeightProducts::reset() {
  arena_.rewind({});
  put_off_.clear();
  copies_.clear();
}

}  // namespace softalign
