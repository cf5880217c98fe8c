#include "framework/kernels/gemm.hpp"

#include "framework/base/types.hpp"

namespace softalign {
namespace {

// to[j * stride + i] = from[i * from_stride + j], i and j up to 4.
void transpose_four(const real* from, Index from_stride, real* to, Index stride) {
  using Four [[gnu::vector_size(4 * sizeof(real))]] = real;
  Four row[4];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(row + i, from + i * from_stride, sizeof(Four));
  const Four low = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5),
             high = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7),
             next_low = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5),
             next_high = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Four column[4] = {__builtin_shufflevector(low, next_low, 0, 1, 4, 5),
                          __builtin_shufflevector(low, next_low, 2, 3, 6, 7),
                          __builtin_shufflevector(high, next_high, 0, 1, 4, 5),
                          __builtin_shufflevector(high, next_high, 2, 3, 6, 7)};
  for (int j = 0; j < 4; ++j) __builtin_memcpy(to + j * stride, column + j, sizeof(Four));
}

}  // namespace

// Reads four whole rows at a time: the processor prefetches a few long rows, but not many short ones.
void transpose(Matrix from, real* to, Index stride) {
  Index i = 0;
  for (; i + 4 <= from.rows; i += 4) {
    const real* row = from.data + i * from.stride;
    Index j = 0;
    for (; j + 4 <= from.columns; j += 4)
      transpose_four(row + j, from.stride, to + j * stride + i, stride);
    for (; j < from.columns; ++j)
      for (Index k = 0; k < 4; ++k) to[j * stride + i + k] = row[k * from.stride + j];
  }
  for (; i < from.rows; ++i)
    for (Index j = 0; j < from.columns; ++j) to[j * stride + i] = from.data[i * from.stride + j];
}

}  // namespace softalign
