#include "framework/kernels/transpose.hpp"

#include <algorithm>

#if defined(__SSE__) && !defined(SOFTALIGN_DOUBLE)
#include <xmmintrin.h>
#define SOFTALIGN_SSE 1
#endif

namespace softalign {
namespace {

constexpr Index kTile = 16;  // a tile of either side is a few cache lines

void transpose_tile(Matrix from, Index i0, Index i1, Index j0, Index j1, real* to, Index stride) {
  Index i = i0;
#ifdef SOFTALIGN_SSE
  for (; i + 4 <= i1; i += 4) {
    const float* row = from.data + i * from.stride;
    Index j = j0;
    for (; j + 4 <= j1; j += 4) {
      __m128 a = _mm_loadu_ps(row + j), b = _mm_loadu_ps(row + from.stride + j),
             c = _mm_loadu_ps(row + 2 * from.stride + j),
             d = _mm_loadu_ps(row + 3 * from.stride + j);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_storeu_ps(to + j * stride + i, a);
      _mm_storeu_ps(to + (j + 1) * stride + i, b);
      _mm_storeu_ps(to + (j + 2) * stride + i, c);
      _mm_storeu_ps(to + (j + 3) * stride + i, d);
    }
    for (; j < j1; ++j)
      for (Index k = 0; k < 4; ++k) to[j * stride + i + k] = row[k * from.stride + j];
  }
#endif
  for (; i < i1; ++i)
    for (Index j = j0; j < j1; ++j) to[j * stride + i] = from.data[i * from.stride + j];
}

}  // namespace

void transpose(Matrix from, real* to, Index stride) {
  for (Index j = 0; j < from.columns; j += kTile)
    for (Index i = 0; i < from.rows; i += kTile)
      transpose_tile(from,
                     i,
                     std::min(from.rows, i + kTile),
                     j,
                     std::min(from.columns, j + kTile),
                     to,
                     stride);
}

}  // namespace softalign
