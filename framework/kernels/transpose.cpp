#include "framework/kernels/transpose.hpp"

#if defined(__SSE__) && !defined(SOFTALIGN_DOUBLE)
#include <xmmintrin.h>
#define SOFTALIGN_SSE 1
#endif

namespace softalign {

// Four rows at a time from end to end: the processor foresees a few long rows, and not many short ones.
void transpose(Matrix from, real* to, Index stride) {
  Index i = 0;
#ifdef SOFTALIGN_SSE
  for (; i + 4 <= from.rows; i += 4) {
    const float* row = from.data + i * from.stride;
    Index j = 0;
    for (; j + 4 <= from.columns; j += 4) {
      __m128 a = _mm_loadu_ps(row + j), b = _mm_loadu_ps(row + from.stride + j),
             c = _mm_loadu_ps(row + 2 * from.stride + j),
             d = _mm_loadu_ps(row + 3 * from.stride + j);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_storeu_ps(to + j * stride + i, a);
      _mm_storeu_ps(to + (j + 1) * stride + i, b);
      _mm_storeu_ps(to + (j + 2) * stride + i, c);
      _mm_storeu_ps(to + (j + 3) * stride + i, d);
    }
    for (; j < from.columns; ++j)
      for (Index k = 0; k < 4; ++k) to[j * stride + i + k] = row[k * from.stride + j];
  }
#endif
  for (; i < from.rows; ++i)
    for (Index j = 0; j < from.columns; ++j) to[j * stride + i] = from.data[i * from.stride + j];
}

}  // namespace softalign
