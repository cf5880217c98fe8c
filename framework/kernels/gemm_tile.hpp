// The inner loops of a matrix product, written once and compiled for each instruction set by a file of its
// own: gemm_avx512.cpp, gemm_avx512_bf16.cpp, gemm_avx2.cpp, gemm_neon.cpp and gemm_portable.cpp.
//
// The law of the bits: every number of C is one chain of fused multiply-adds over k in ascending order,
//   c = fma(a[i,k-1], b[k-1,j], ... fma(a[i,0], b[0,j], c0)),
// for any vector width, tile, blocks and other rows; a bias is added last. Therefore all variants give
// the same bits, and so does a row alone or in a batch.
//
// The law of bfloat16 products is that of the processors' instruction (VDPBF16PS). Subnormal numbers of A and B
// (below 2^-126) become zeros; the rest is rounded to bfloat16, to nearest, ties to even. The chain takes two k
// at a time, the odd one first, each a fused multiply-add of float32:
//   c = fma(a[i,p], b[p,j], fma(a[i,p+1], b[p+1,j], c)), p = 0, 2, 4 ...; an odd depth ends with a zero.
// Subnormal inputs count as zeros; results that are subnormal after rounding to 24 bits, with unbounded exponent,
// become zeros. A bias is added last, as above. A pair occupies the space of one float, with the even k in its lower
// half.
#pragma once

#include "framework/base/types.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace softalign {

inline constexpr Index kCacheLine = 16;    // numbers
inline constexpr Index kMostColumns = 32;  // of a panel

// A tile of C [rows, columns <= kVectors vectors] = A B, or C + A B.
struct GemmTile {
  Index k;
  const float* a;  // a(i, p) = a[i * a_row + p * a_k]
  Index a_row, a_k;
  const float* b;  // b(p, j) = b[p * b_row + j]
  Index b_row;
  float* c;
  Index c_row;
  int tail;  // columns of an incomplete last vector, else 0
  bool add;
  const float* bias;  // of these columns, added to every row of C; may be null
  const float* next;  // k cache lines that a later tile reads, to be prefetched
};

// The functions of an instruction set: compute[vectors - 1][tail > 0][packed][rows - 1], and for pairs, which
// are always packed, pairs[vectors - 1][tail > 0][rows - 1]. Panels of B are `vectors * width` columns wide; a
// packed panel has all of them, with zeros beyond the columns of C.
struct GemmKernels {
  static constexpr int kMaxRows = 12;
  static constexpr int kVectors = 2;
  using Compute = void (*)(const GemmTile&);
  const char* name;
  int width;  // numbers in a vector
  int rows;   // of the largest tile
  Compute compute[kVectors][2][2][kMaxRows];
  Compute pairs[kVectors][2][kMaxRows];
  // x [rows, columns]: to[p * to_stride + j] = the pair of x(2 p, j) and x(2 p + 1, j), zero beyond the rows
  void (*pair_rows)(
      const float* x, Index rows, Index columns, Index stride, float* to, Index to_stride);
  // x [count]: to[p] = the pair of x(2 p) and x(2 p + 1), zero beyond the end
  void (*pair_neighbours)(const float* x, Index count, float* to);

  Index panel() const { return kVectors * width; }
};

const GemmKernels& kernels_in_use();  // gemm_variants.cpp chooses them
const GemmKernels& gemm_portable();   // any machine; slow without an fma instruction
#if defined(__x86_64__)
const GemmKernels& gemm_avx2();  // with FMA
const GemmKernels& gemm_avx512();
const GemmKernels& gemm_avx512_bf16();
#elif defined(__aarch64__)
const GemmKernels& gemm_neon();
#endif

#if defined(__x86_64__)
// While an object exists, vector instructions treat subnormal inputs and results as zeros.
class NoDenormals {
 public:
  [[gnu::always_inline]] NoDenormals() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZeros);
  }
  [[gnu::always_inline]] ~NoDenormals() { _mm_setcsr(before_); }
  NoDenormals(const NoDenormals&) = delete;
  NoDenormals& operator=(const NoDenormals&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZeros = 0x40;
  unsigned before_;
};

// Pairs in vectors of V, whose fma obeys NoDenormals.
template <class V>
struct EmulatedPairs : V {
  using Environment = NoDenormals;
  using Vector = typename V::Vector;
  using Bits [[gnu::vector_size(4 * V::kWidth)]] = unsigned;
  static Vector low(Vector x) {
    return __builtin_bit_cast(Vector, __builtin_bit_cast(Bits, x) << 16U);
  }
  static Vector high(Vector x) {
    return __builtin_bit_cast(Vector, __builtin_bit_cast(Bits, x) & 0xffff0000U);
  }
  static Vector fma(Vector a, Vector b, Vector c) {
    return V::fma(low(a), low(b), V::fma(high(a), high(b), c));
  }
};
#endif

#define SOFTALIGN_UNROLL _Pragma("GCC unroll 16")

// V: a vector of V::kWidth floats or pairs. The accumulators [Rows][Vectors] stay in registers.
template <class V, int Rows, int Vectors, bool Tail, bool Packed>
[[gnu::noinline]] void compute_tile(const GemmTile& t) {
  constexpr Index kWidth = V::kWidth;
  typename V::Vector sum[Rows][Vectors];
  SOFTALIGN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SOFTALIGN_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      const float* c = t.c + i * t.c_row + j * kWidth;
      if (!t.add)
        sum[i][j] = V::zero();
      else if (Tail && j == Vectors - 1)
        sum[i][j] = V::load_some(c, t.tail);
      else
        sum[i][j] = V::load(c);
    }
  }
  const float* a = t.a;
  const float* b = t.b;
  const float* next = t.next;
  const Index a_row = t.a_row, a_k = t.a_k, b_row = Packed ? Vectors * kWidth : t.b_row;
  for (Index p = 0; p < t.k; ++p) {
    __builtin_prefetch(next, 0, 2);
    next += kCacheLine;
    typename V::Vector row[Vectors];
    SOFTALIGN_UNROLL
    for (int j = 0; j < Vectors; ++j)
      row[j] = Tail && !Packed && j == Vectors - 1 ? V::load_some(b + j * kWidth, t.tail)
                                                   : V::load(b + j * kWidth);
    SOFTALIGN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const typename V::Vector factor = V::broadcast(a + i * a_row);
      SOFTALIGN_UNROLL
      for (int j = 0; j < Vectors; ++j) sum[i][j] = V::fma(factor, row[j], sum[i][j]);
    }
    a += a_k;
    b += b_row;
  }
  SOFTALIGN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SOFTALIGN_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      float* c = t.c + i * t.c_row + j * kWidth;
      if (t.bias != nullptr)
        sum[i][j] = V::add(sum[i][j],
                           Tail && j == Vectors - 1 ? V::load_some(t.bias + j * kWidth, t.tail)
                                                    : V::load(t.bias + j * kWidth));
      if (Tail && j == Vectors - 1)
        V::store_some(c, sum[i][j], t.tail);
      else
        V::store(c, sum[i][j]);
    }
  }
}

// V: a vector of pairs.
template <class V, int Rows, int Vectors, bool Tail>
void compute_pairs(const GemmTile& t) {
  [[maybe_unused]] const typename V::Environment environment;
  compute_tile<V, Rows, Vectors, Tail, true>(t);
}

template <class Pairs, int Rows>
void fill_pairs(GemmKernels& kernels) {
  if constexpr (Rows > 0) {
    kernels.pairs[0][0][Rows - 1] = compute_pairs<Pairs, Rows, 1, false>;
    kernels.pairs[0][1][Rows - 1] = compute_pairs<Pairs, Rows, 1, true>;
    kernels.pairs[1][0][Rows - 1] = compute_pairs<Pairs, Rows, 2, false>;
    kernels.pairs[1][1][Rows - 1] = compute_pairs<Pairs, Rows, 2, true>;
    fill_pairs<Pairs, Rows - 1>(kernels);
  }
}

template <class V, int Rows>
void fill_table(GemmKernels& kernels) {
  if constexpr (Rows > 0) {
    auto& compute = kernels.compute;
    compute[0][0][0][Rows - 1] = compute_tile<V, Rows, 1, false, false>;
    compute[0][0][1][Rows - 1] = compute_tile<V, Rows, 1, false, true>;
    compute[0][1][0][Rows - 1] = compute_tile<V, Rows, 1, true, false>;
    compute[0][1][1][Rows - 1] = compute_tile<V, Rows, 1, true, true>;
    compute[1][0][0][Rows - 1] = compute_tile<V, Rows, 2, false, false>;
    compute[1][0][1][Rows - 1] = compute_tile<V, Rows, 2, false, true>;
    compute[1][1][0][Rows - 1] = compute_tile<V, Rows, 2, true, false>;
    compute[1][1][1][Rows - 1] = compute_tile<V, Rows, 2, true, true>;
    fill_table<V, Rows - 1>(kernels);
  }
}

// Returns fma(a, b, c) by the law of bfloat16 products, for a processor without a mode like NoDenormals. If the
// result is the smallest normal number, the exact value decides, because float32 also rounds some results to it that
// are subnormal in 24 bits. V: gives every file its own copy.
template <class V>
float fma_to_normal(float a, float b, float c) {
  const auto normal = [](float x) {
    return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0.0F, x) : x;
  };
  c = normal(c);
  const float result = __builtin_fmaf(a, b, c);
  if (__builtin_fabsf(result) == 0x1p-126F) {
    const double exact = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    if (__builtin_fabs(exact) < 0x1p-126 - 0x1p-151) return __builtin_copysignf(0.0F, result);
  }
  return normal(result);
}

// Returns a pair, rounded to bfloat16. V: gives every file its own copy.
template <class V>
float pair_of(float even, float odd) {
  const auto rounded = [](float x) -> unsigned {
    const auto bits = __builtin_bit_cast(unsigned, x);
    const unsigned magnitude = bits & 0x7fffffffU;
    return magnitude < 0x00800000U   ? bits >> 31U << 15U
           : magnitude > 0x7f800000U ? bits >> 16U | 0x40U  // NaN
                                     : (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  };
  return __builtin_bit_cast(float, rounded(odd) << 16U | rounded(even));
}

template <class V>
void pair_rows(
    const float* x, Index rows, Index columns, Index stride, float* to, Index to_stride) {
  for (; rows > 1; rows -= 2, x += 2 * stride, to += to_stride)
    for (Index j = 0; j < columns; ++j) to[j] = pair_of<V>(x[j], x[stride + j]);
  for (Index j = 0; rows > 0 && j < columns; ++j) to[j] = pair_of<V>(x[j], 0);
}

template <class V>
void pair_neighbours(const float* x, Index count, float* to) {
  for (Index p = 0; p < count / 2; ++p) to[p] = pair_of<V>(x[2 * p], x[2 * p + 1]);
  if (count % 2 == 1) to[count / 2] = pair_of<V>(x[count - 1], 0);
}

template <class V, class Pairs>
GemmKernels gemm_kernels(const char* name) {
  GemmKernels kernels{name, V::kWidth, V::kRows, {}, {}, pair_rows<V>, pair_neighbours<V>};
  fill_table<V, V::kRows>(kernels);
  fill_pairs<Pairs, V::kRows>(kernels);
  return kernels;
}

}  // namespace softalign
