// Summands of the gradients of weights: dw [x.columns, dy.columns] += x^T dy. Backward makes one at
// every time step; each is of few rows and would spend its time on reading and writing dw. Put behind
// one another they are one product of many rows.
#pragma once

#include <span>

#include "framework/base/arena.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

struct WeightProduct {
  Index weight;  // offset in the flat buffer of the parameters
  Matrix x, dy;  // of equally many rows
};

// Columns [first, first + count) of a gradient dw with rows of `stride` numbers += those of the
// products, in their order: the bits do not depend on the columns chosen. scratch: rewound.
void add_weight_products(std::span<const WeightProduct> products,
                         Index first,
                         Index count,
                         real* dw,
                         Index stride,
                         Arena& scratch);

}  // namespace softalign
