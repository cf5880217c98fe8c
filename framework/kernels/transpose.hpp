// Copies a matrix into the memory of its transpose.
#pragma once

#include "framework/kernels/gemm.hpp"

namespace softalign {

// to[j * stride + i] = from(i, j); `from` as stored, not transposed itself.
void transpose(Matrix from, real* to, Index stride);

}  // namespace softalign
