// Compiled for AVX2 and FMA. Must not include the standard library, whose functions would be
// compiled for these instructions and could then run on any machine.
#include "framework/kernels/gemm_tile.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace softalign {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  static constexpr int kRows = 6;
  using Vector = __m256;
  static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static Vector load_some(const float* p, int count) { return _mm256_maskload_ps(p, first(count)); }
  static void store(float* p, Vector x) { _mm256_storeu_ps(p, x); }
  static void store_some(float* p, Vector x, int count) { _mm256_maskstore_ps(p, first(count), x); }
  static Vector broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace

const GemmKernels& gemm_avx2() {
  static const GemmKernels kernels = gemm_kernels<Avx2, EmulatedPairs<Avx2>>("AVX2");
  return kernels;
}

}  // namespace softalign
#endif
