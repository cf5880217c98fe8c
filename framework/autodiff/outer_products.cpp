#include "framework/autodiff/outer_products.hpp"

#include <algorithm>

#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

constexpr Index kSteps = 16;  // that come together

}  // namespace

void OuterProducts::add(View gradient, View rows, View columns, std::span<const Index> lengths) {
  const Index sentences = gradient.shape[0], positions = gradient.shape[1],
              size = gradient.shape[2];
  auto one = std::find_if(put_off_.begin(), put_off_.end(), [&](const PutOff& other) {
    return other.gradient.data == gradient.data;
  });
  if (one == put_off_.end()) {
    put_off_.push_back({gradient,
                        lengths.data(),
                        0,
                        arena_.array({sentences, kSteps, positions}).data,
                        arena_.array({sentences, kSteps, size}).data});
    one = put_off_.end() - 1;
  }
  for (Index b = 0; b < sentences; ++b) {
    const Index at = b * kSteps + one->steps;
    std::copy_n(rows.data + b * positions, positions, one->rows + at * positions);
    std::copy_n(columns.data + b * size, size, one->columns + at * size);
  }
  if (++one->steps == kSteps) compute(*one);
}

void OuterProducts::compute(PutOff& one) {
  const Index sentences = one.gradient.shape[0], positions = one.gradient.shape[1],
              size = one.gradient.shape[2];
  for (Index b = 0; b < sentences; ++b) {
    const Matrix rows{one.rows + b * kSteps * positions, one.steps, one.lengths[b], positions},
        columns{one.columns + b * kSteps * size, one.steps, size};
    gemm(rows.transpose(), columns, true, one.gradient.data + b * positions * size, size);
  }
  one.steps = 0;
}

void OuterProducts::finish(const real* gradients, Index size) {
  const auto here = [=](const PutOff& one) {
    return one.gradient.data >= gradients && one.gradient.data < gradients + size;
  };
  for (PutOff& one : put_off_)
    if (here(one) && one.steps > 0) compute(one);
  std::erase_if(put_off_, here);
}

void OuterProducts::finish() {
  for (PutOff& one : put_off_)
    if (one.steps > 0) compute(one);
  put_off_.clear();
}

void OuterProducts::reset() {
  arena_.rewind({});
  put_off_.clear();
}

}  // namespace softalign
