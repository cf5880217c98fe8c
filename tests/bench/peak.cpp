#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>

#include "framework/kernels/gemm.hpp"
#include "tests/bench/modes.hpp"

namespace softalign::bench {
namespace {

constexpr int kChains = 12;  // at least 2 FMA units x latency 5; AVX2 has 16 registers
constexpr int kRounds = 4'000'000;
thread_local volatile float result;

// Each function runs kChains * kRounds fused multiply-adds of vectors and returns the vector width.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] int fma_avx512() {
  __m512 sum[kChains], factor = _mm512_set1_ps(0.5F);
  for (auto& one : sum) one = factor;
  for (int i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& one : sum) one = _mm512_fmadd_ps(one, factor, factor);
  }
  for (auto& one : sum) result = _mm512_cvtss_f32(one);
  return 16;
}

[[gnu::target("avx2,fma")]] int fma_avx2() {
  __m256 sum[kChains], factor = _mm256_set1_ps(0.5F);
  for (auto& one : sum) one = factor;
  for (int i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& one : sum) one = _mm256_fmadd_ps(one, factor, factor);
  }
  for (auto& one : sum) result = _mm256_cvtss_f32(one);
  return 8;
}
#endif

int fma_portable() {
  float sum[kChains];
  for (float& one : sum) one = 0.5F;
  for (int i = 0; i < kRounds; ++i)
    for (float& one : sum) one = std::fma(one, 0.5F, 0.5F);
  for (float one : sum) result = one;
  return 1;
}

int fma_of_the_variant() {
#if defined(__x86_64__)
  if (gemm_variant().starts_with("AVX-512")) return fma_avx512();
  if (gemm_variant() == "AVX2") return fma_avx2();
#endif
  return fma_portable();
}

}  // namespace

double peak_gflops(Workers& workers) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    int width = 0;
    const auto start = std::chrono::steady_clock::now();
    workers.run(workers.threads(), [&](Index thread) {
      const int here = fma_of_the_variant();
      if (thread == 0) width = here;
    });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2e-9 * workers.threads() * width * kChains * kRounds / spent.count());
  }
  return best;
}

}  // namespace softalign::bench
