// Elementwise kernels and their derivatives. N: number of elements. Backward kernels ADD to the
// gradient dx.
#pragma once

#include <algorithm>

#include "framework/base/types.hpp"

namespace softalign::kernels {

void tanh_forward(Index n, const real* x, real* y);
void tanh_backward(Index n, const real* y, const real* dy, real* dx);  // dx += dy (1 - y²)
void sigmoid_forward(Index n, const real* x, real* y);
void sigmoid_backward(Index n, const real* y, const real* dy, real* dx);  // dx += dy y (1 - y)
void relu_forward(Index n, const real* x, real* y);
void relu_backward(Index n, const real* y, const real* dy, real* dx);
void relu_backward_in_place(Index n, const real* y, real* dy);  // dy becomes dx

// Pairs of neighbours: y [n] = max(x[2i], x[2i + 1]); the gradient goes to the larger, to the first
// on ties.
void maxout_forward(Index n, const real* x, real* y);
void maxout_backward(Index n, const real* x, const real* dy, real* dx);

inline bool is_zero(Index n, const real* x) {
  return std::all_of(x, x + n, [](real number) { return number == 0; });
}
void add(Index n, const real* x, real* y);                         // y += x
void add_scaled(Index n, real factor, const real* x, real* y);     // y += factor x
void add_product(Index n, const real* a, const real* b, real* y);  // y += a b
void multiply(Index n, const real* a, const real* b, real* y);     // y = a b
void scale(Index n, real factor, const real* x, real* y);          // y = factor x
void add_rows(Index rows,
              Index columns,
              const real* bias,
              real* y);  // y [rows, columns] += bias [columns]
void sum_rows(Index rows,
              Index columns,
              const real* x,
              real* sums);  // sums [columns] += over rows of x
real dot(Index n, const real* a, const real* b);
double sum_of_squares(Index n, const real* x);  // accumulated in double, fixed order

}  // namespace softalign::kernels
