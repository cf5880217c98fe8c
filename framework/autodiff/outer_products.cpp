#include "framework/autodiff/outer_products.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

constexpr Index kSteps = 32;  // that come together

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
