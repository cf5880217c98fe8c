#include "framework/kernels/elementwise.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void tanh_forward(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = vector_tanh(x[i]);
}

SOFTALIGN_KERNEL void tanh_backward(Index n, const real* y, const real* dy, real* dx) {
  for (Index i = 0; i < n; ++i) dx[i] += dy[i] * (1 - y[i] * y[i]);
}

SOFTALIGN_KERNEL void sigmoid_forward(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = vector_sigmoid(x[i]);
}

SOFTALIGN_KERNEL void sigmoid_backward(Index n, const real* y, const real* dy, real* dx) {
  for (Index i = 0; i < n; ++i) dx[i] += dy[i] * y[i] * (1 - y[i]);
}

SOFTALIGN_KERNEL void relu_forward(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

SOFTALIGN_KERNEL void relu_backward(Index n, const real* y, const real* dy, real* dx) {
  for (Index i = 0; i < n; ++i) dx[i] += y[i] > 0 ? dy[i] : 0;
}

SOFTALIGN_KERNEL void relu_backward_in_place(Index n, const real* y, real* dy) {
  for (Index i = 0; i < n; ++i) dy[i] = y[i] <= 0 ? 0 : dy[i];
}

SOFTALIGN_KERNEL void maxout_forward(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = x[2 * i] >= x[2 * i + 1] ? x[2 * i] : x[2 * i + 1];
}

SOFTALIGN_KERNEL void maxout_backward(Index n, const real* x, const real* dy, real* dx) {
  for (Index i = 0; i < n; ++i) {
    const bool first = x[2 * i] >= x[2 * i + 1];
    dx[2 * i] += first ? dy[i] : 0;
    dx[2 * i + 1] += first ? 0 : dy[i];
  }
}

SOFTALIGN_KERNEL void add(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] += x[i];
}

SOFTALIGN_KERNEL void add_scaled(Index n, real factor, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] += factor * x[i];
}

SOFTALIGN_KERNEL void add_product(Index n, const real* a, const real* b, real* y) {
  for (Index i = 0; i < n; ++i) y[i] += a[i] * b[i];
}

SOFTALIGN_KERNEL void multiply(Index n, const real* a, const real* b, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

SOFTALIGN_KERNEL void scale(Index n, real factor, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = factor * x[i];
}

SOFTALIGN_KERNEL void add_rows(Index rows, Index columns, const real* bias, real* y) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) y[r * columns + c] += bias[c];
}

SOFTALIGN_KERNEL void sum_rows(Index rows, Index columns, const real* x, real* sums) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) sums[c] += x[r * columns + c];
}

SOFTALIGN_KERNEL real dot(Index n, const real* a, const real* b) {
  return lane_sum(n, [=](Index i) { return a[i] * b[i]; });
}

SOFTALIGN_KERNEL double sum_of_squares(Index n, const real* x) {
  double lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(x[i + lane]);
      lanes[lane] += value * value;
    }
  for (; i < n; ++i) lanes[i % kLanes] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

}  // namespace softalign::kernels
