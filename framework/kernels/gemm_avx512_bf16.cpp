// The kernels of gemm_avx512.cpp, with the processor's own instruction for pairs.
#include "framework/kernels/gemm_tile.hpp"

#if defined(__AVX512BF16__)
#include "framework/kernels/gemm_avx512.hpp"

namespace softalign {
namespace {

struct Pairs : Avx512 {
  struct Environment {};
  static Vector fma(Vector a, Vector b, Vector c) {
    return _mm512_dpbf16_ps(c, __builtin_bit_cast(__m512bh, a), __builtin_bit_cast(__m512bh, b));
  }
};

// Returns the 16 pairs of two vectors, rounded to bfloat16.
__m512i joined(__m512 even, __m512 odd) {
  const __m512i order = _mm512_set_epi16(31,
                                         15,
                                         30,
                                         14,
                                         29,
                                         13,
                                         28,
                                         12,
                                         27,
                                         11,
                                         26,
                                         10,
                                         25,
                                         9,
                                         24,
                                         8,
                                         23,
                                         7,
                                         22,
                                         6,
                                         21,
                                         5,
                                         20,
                                         4,
                                         19,
                                         3,
                                         18,
                                         2,
                                         17,
                                         1,
                                         16,
                                         0);
  return _mm512_maskz_permutexvar_epi16(
      ~__mmask32{0}, order, __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(odd, even)));
}

void pair_rows(
    const float* x, Index rows, Index columns, Index stride, float* to, Index to_stride) {
  for (; rows > 0; rows -= 2, x += 2 * stride, to += to_stride)
    for (Index j = 0; j < columns; j += Pairs::kWidth) {
      const __mmask16 some = Pairs::first(static_cast<int>(columns - j < 16 ? columns - j : 16));
      const __m512 odd = rows > 1 ? _mm512_maskz_loadu_ps(some, x + stride + j) : Pairs::zero();
      _mm512_mask_storeu_epi32(to + j, some, joined(_mm512_maskz_loadu_ps(some, x + j), odd));
    }
}

void pair_neighbours(const float* x, Index count, float* to) {
  for (; count > 0; count -= 32, x += 32, to += 16) {
    const int low = static_cast<int>(count < 16 ? count : 16),
              high = static_cast<int>(count < 16   ? 0
                                      : count < 32 ? count - 16
                                                   : 16),
              places = (low + high + 1) / 2;
    const __m512bh pairs = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(Pairs::first(high), x + 16),
                                               _mm512_maskz_loadu_ps(Pairs::first(low), x));
    _mm512_mask_storeu_epi32(to, Pairs::first(places), __builtin_bit_cast(__m512i, pairs));
  }
}

}  // namespace

const GemmKernels& gemm_avx512_bf16() {
  static const GemmKernels kernels = [] {
    GemmKernels all = gemm_avx512();
    all.name = "AVX-512 with bfloat16";
    fill_pairs<Pairs, Pairs::kRows>(all);
    all.pair_rows = pair_rows;
    all.pair_neighbours = pair_neighbours;
    return all;
  }();
  return kernels;
}

}  // namespace softalign
#endif
