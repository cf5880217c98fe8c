// Vectors of NEON, which every 64-bit ARM processor has.
#include "framework/kernels/gemm_tile.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace softalign {
namespace {

struct Neon {
  static constexpr int kWidth = 4;
  static constexpr int kRows = 12;
  using Vector = float32x4_t;
  static Vector zero() { return vdupq_n_f32(0); }
  static Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
  static Vector load(const float* p) { return vld1q_f32(p); }
  static Vector load_some(const float* p, int count) {
    float x[kWidth] = {};
    for (int i = 0; i < count; ++i) x[i] = p[i];
    return load(x);
  }
  static void store(float* p, Vector v) { vst1q_f32(p, v); }
  static void store_some(float* p, Vector v, int count) {
    float x[kWidth];
    store(x, v);
    for (int i = 0; i < count; ++i) p[i] = x[i];
  }
  static Vector broadcast(const float* p) { return vld1q_dup_f32(p); }
  static Vector fma(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }
};

// Does not use the processor's flush-to-zero mode, which tests results before they are rounded.
struct NeonPairs : Neon {
  struct Environment {};
  static Vector low(Vector x) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(x), 16));
  }
  static Vector high(Vector x) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(0xffff0000U)));
  }
  static Vector normal(Vector x) {
    const uint32x4_t below = vcltq_f32(vabsq_f32(x), vdupq_n_f32(0x1p-126F)),
                     kept = vorrq_u32(vmvnq_u32(below), vdupq_n_u32(0x80000000U));
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), kept));
  }
  static Vector to_normal(Vector a, Vector b, Vector c) {
    Vector result = Neon::fma(a, b, normal(c));
    if (vmaxvq_u32(vceqq_f32(vabsq_f32(result), vdupq_n_f32(0x1p-126F))) != 0)
      for (int i = 0; i < kWidth; ++i) result[i] = fma_to_normal<Neon>(a[i], b[i], c[i]);
    return normal(result);
  }
  static Vector fma(Vector a, Vector b, Vector c) {
    return to_normal(low(a), low(b), to_normal(high(a), high(b), c));
  }
};

}  // namespace

const GemmKernels& gemm_neon() {
  static const GemmKernels kernels = gemm_kernels<Neon, NeonPairs>("NEON");
  return kernels;
}

}  // namespace softalign
#endif
