// Vectors of AVX-512, only for files compiled for it. These must not include the standard library, whose
// functions would be compiled for these instructions and could then run on any machine.
#pragma once

#include <immintrin.h>

#include "framework/kernels/gemm_tile.hpp"

namespace softalign {

struct Avx512 {
  static constexpr int kWidth = 16;
  static constexpr int kRows = 12;
  using Vector = __m512;
  static __mmask16 first(int count) { return static_cast<__mmask16>((1u << count) - 1); }
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static Vector load_some(const float* p, int count) {
    return _mm512_maskz_loadu_ps(first(count), p);
  }
  static void store(float* p, Vector x) { _mm512_storeu_ps(p, x); }
  static void store_some(float* p, Vector x, int count) {
    _mm512_mask_storeu_ps(p, first(count), x);
  }
  static Vector broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};

}  // namespace softalign
