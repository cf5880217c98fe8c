// Compiled for the baseline instruction set, for machines without the other variants and to test
// those.
#include "framework/kernels/gemm_tile.hpp"

namespace softalign {
namespace {

struct Portable {
  static constexpr int kWidth = 4;
  static constexpr int kRows = 4;
  struct Vector {
    float x[kWidth];
  };
  static Vector zero() { return {}; }
  static Vector add(Vector a, Vector b) {
    for (int i = 0; i < kWidth; ++i) a.x[i] += b.x[i];
    return a;
  }
  static Vector load(const float* p) { return {p[0], p[1], p[2], p[3]}; }
  static Vector load_some(const float* p, int count) {
    Vector v{};
    for (int i = 0; i < count; ++i) v.x[i] = p[i];
    return v;
  }
  static void store(float* p, Vector v) { store_some(p, v, kWidth); }
  static void store_some(float* p, Vector v, int count) {
    for (int i = 0; i < count; ++i) p[i] = v.x[i];
  }
  static Vector broadcast(const float* p) { return {*p, *p, *p, *p}; }
  static Vector fma(Vector a, Vector b, Vector c) {
    for (int i = 0; i < kWidth; ++i) c.x[i] = __builtin_fmaf(a.x[i], b.x[i], c.x[i]);
    return c;
  }
};

struct PortablePairs : Portable {
  struct Environment {};
  static float low(float x) {
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) << 16);
  }
  static float high(float x) {
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & 0xffff0000U);
  }
  static Vector fma(Vector a, Vector b, Vector c) {
    for (int i = 0; i < kWidth; ++i) {
      const float odd = fma_to_normal<Portable>(high(a.x[i]), high(b.x[i]), c.x[i]);
      c.x[i] = fma_to_normal<Portable>(low(a.x[i]), low(b.x[i]), odd);
    }
    return c;
  }
};

}  // namespace

const GemmKernels& gemm_portable() {
  static const GemmKernels kernels = gemm_kernels<Portable, PortablePairs>("portable");
  return kernels;
}

}  // namespace softalign
