// Elementary functions that compilers vectorise, with bits that do not depend on the vector width:
// only + - * / and comparisons, no fused multiply-adds, no tables. The double build uses the C
// library's functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "framework/base/types.hpp"

// Compiles a kernel for several vector widths; all give the same bits. One is chosen when the program
// starts, before a sanitizer is ready. clang before 19 names the chosen one differently from its callers.
#if defined(__x86_64__) && !defined(SOFTALIGN_SANITIZE) && \
    (defined(__clang__) ? __clang_major__ >= 19 : defined(__GNUC__))
#define SOFTALIGN_KERNEL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SOFTALIGN_KERNEL
#endif
// Marks a loop whose arrays do not overlap, if there are too many of them for the compiler to compare.
// Empty in the double build: the C library's functions have no vector form, and clang warns about that.
#if defined(SOFTALIGN_DOUBLE)
#define SOFTALIGN_NO_OVERLAP
#elif defined(__clang__)
#define SOFTALIGN_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SOFTALIGN_NO_OVERLAP _Pragma("GCC ivdep")
#endif
#define SOFTALIGN_INLINE inline __attribute__((always_inline))

namespace softalign {

#ifdef SOFTALIGN_DOUBLE

SOFTALIGN_INLINE real vector_exp(real x) { return std::exp(x); }
SOFTALIGN_INLINE real vector_tanh(real x) { return std::tanh(x); }
SOFTALIGN_INLINE real vector_sigmoid(real x) { return 1 / (1 + std::exp(-x)); }

#else

// e^x for x in [-87, 88] (clamped), 1 to 2 units in the last place. x = n ln 2 + r, polynomial in
// r, scaled by 2^n.
SOFTALIGN_INLINE float vector_exp(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const float shifted = x * 1.44269504088896341f + 12582912.0f;  // 1.5 * 2^23: rounds to an integer
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float value = p * (r * r) + r + 1.0f;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted)
                                << 23;  // low bits of `shifted` hold n
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(value) + exponent);
}

// tanh x = x P(x²) / Q(x²) for |x| <= 9.2, beyond that ±1; relative error below 4e-7. The coefficients
// minimise the relative error: 2e-8 before rounding. |x| and the result are clamped as integers, which
// takes one instruction per bound; clamping floats takes three.
SOFTALIGN_INLINE float vector_tanh(float x) {
  constexpr std::int32_t kMagnitude = 0x7fffffff;
  constexpr auto kLargest = std::bit_cast<std::int32_t>(9.2f),
                 kOne = std::bit_cast<std::int32_t>(1.0f);
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto a = std::bit_cast<float>(std::min(bits & kMagnitude, kLargest));
  const float s = a * a;
  float p = 1.335460025e-8f;
  p = p * s + 2.060903518e-5f;
  p = p * s + 3.495585151e-3f;
  p = p * s + 1.338102312e-1f;
  p = p * s + 1.0f;
  float q = 7.776532361e-7f;
  q = q * s + 3.285630024e-4f;
  q = q * s + 2.587697080e-2f;
  q = q * s + 4.671433872e-1f;
  q = q * s + 1.0f;
  const std::int32_t magnitude = std::min(std::bit_cast<std::int32_t>(a * p / q), kOne);
  const auto signed_value = std::bit_cast<float>(magnitude | (bits & ~kMagnitude));
  return x != x ? x : signed_value;
}

SOFTALIGN_INLINE float vector_sigmoid(float x) { return 1.0f / (1.0f + vector_exp(-x)); }

#endif

// Sums over a fixed number of explicit lanes, so that the order of addition never depends on the
// machine.
inline constexpr Index kLanes = 16;

template <class Term>
SOFTALIGN_INLINE real lane_sum(Index count, Term term) {
  real lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (Index lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  for (; i < count; ++i) lanes[i % kLanes] += term(i);
  for (Index width = kLanes / 2; width > 0; width /= 2)
    for (Index lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

}  // namespace softalign
