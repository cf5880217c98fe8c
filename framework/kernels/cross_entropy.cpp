#include "framework/kernels/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {
namespace {

// Returns the largest number of a row. Compares in lanes, so that the compiler uses vectors, and in
// enough of them that it does not unroll them into single numbers.
SOFTALIGN_INLINE real row_max(Index count, const real* x) {
  constexpr Index kMany = 4 * kLanes;
  real lanes[kMany];
  for (Index lane = 0; lane < kMany; ++lane) lanes[lane] = x[0];
  Index i = 0;
  for (; i + kMany <= count; i += kMany)
    for (Index lane = 0; lane < kMany; ++lane)
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  real largest = lanes[0];
  for (Index lane = 1; lane < kMany; ++lane) largest = std::max(largest, lanes[lane]);
  for (; i < count; ++i) largest = std::max(largest, x[i]);
  return largest;
}

// Returns the first index of a number in a row, or the last index if it does not occur, like a NaN.
SOFTALIGN_INLINE Index first_equal(Index count, const real* x, real number) {
  constexpr Index kMany = 4 * kLanes;
  Index first = 0;
  for (int there = 0; first + kMany <= count; first += kMany) {
    for (Index lane = 0; lane < kMany; ++lane) there |= x[first + lane] == number;
    if (there != 0) break;
  }
  while (first < count && x[first] != number) ++first;
  return std::min(first, count - 1);
}

}  // namespace

SOFTALIGN_KERNEL void softmax_cross_entropy(Index rows,
                                            Index vocabulary,
                                            const Token* targets,
                                            real factor,
                                            real* logits,
                                            real* nll,
                                            Token* best,
                                            bool gradients,
                                            real smoothing,
                                            real* uniform) {
  for (Index row = 0; row < rows; ++row) {
    real* x = logits + row * vocabulary;
    const real largest = row_max(vocabulary, x);
    best[row] = static_cast<Token>(first_equal(vocabulary, x, largest));
    const real target_logit = x[targets[row]];
    const real all =
        smoothing > 0 ? lane_sum(vocabulary, [=](Index v) { return x[v] - largest; }) : 0;
    const real sum =
        lane_sum(vocabulary, [=](Index v) { return x[v] = vector_exp(x[v] - largest); });
    nll[row] = exact::log(sum) + largest - target_logit;
    if (smoothing > 0) uniform[row] = exact::log(sum) - all / static_cast<real>(vocabulary);
    if (!gradients) continue;
    const real scale = factor / sum;
    const real everywhere = factor * smoothing / static_cast<real>(vocabulary);
    if (smoothing > 0)
      for (Index v = 0; v < vocabulary; ++v) x[v] = x[v] * scale - everywhere;
    else
      for (Index v = 0; v < vocabulary; ++v) x[v] *= scale;
    x[targets[row]] -= factor * (1 - smoothing);
  }
}

SOFTALIGN_KERNEL void log_sum_exp(Index rows, Index vocabulary, const real* logits, real* sums) {
  for (Index row = 0; row < rows; ++row) {
    const real* x = logits + row * vocabulary;
    const real largest = row_max(vocabulary, x);
    sums[row] = largest + exact::log(lane_sum(vocabulary,
                                              [=](Index v) { return vector_exp(x[v] - largest); }));
  }
}

SOFTALIGN_KERNEL Index first_above(Index first, Index count, const real* x, real bound) {
  constexpr Index kBlock = 4 * kLanes;  // few blocks of a row have a number above the bound
  for (; first + kBlock <= count; first += kBlock) {
    int above = 0;
    for (Index i = 0; i < kBlock; ++i) above |= x[first + i] > bound;
    if (above != 0) break;
  }
  while (first < count && !(x[first] > bound)) ++first;
  return first;
}

}  // namespace softalign::kernels
