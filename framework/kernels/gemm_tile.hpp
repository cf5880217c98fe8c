// The inner loops of a matrix product, written once and compiled for every instruction set by
// gemm_avx512.cpp, gemm_avx2.cpp and gemm_portable.cpp.
//
// The law of the bits: every number of C is one chain of fused multiply-adds over k in rising order,
//   c = fma(a[i,k-1], b[k-1,j], ... fma(a[i,0], b[0,j], c0)),
// whatever the vector width, the tile, the blocks and the rows beside it; a bias is added last. All
// variants therefore give the same bits, and a row computed alone those it has in a batch.
#pragma once

#include "framework/base/types.hpp"

namespace softalign {

// C [rows, columns <= kPanel vectors] = A B, or C + A B.
struct GemmTile {
  Index k;
  const float* a;  // a(i, p) = a[i * a_row + p * a_k]
  Index a_row, a_k;
  const float* b;  // b(p, j) = b[p * b_row + j]
  Index b_row;
  float* c;
  Index c_row;
  int tail;  // columns of the last vector when they are not all there, else 0
  bool add;
  const float* bias;  // of these columns, to be added to every row of C; may be null
};

// What an instruction set offers: compute[vectors - 1][tail > 0][packed][rows - 1]. Panels of B are
// `vectors * width` columns wide; a packed one has all of them, zeros where C has none.
struct GemmKernels {
  static constexpr int kMaxRows = 12;
  static constexpr int kVectors = 2;
  const char* name;
  int width;  // numbers in a vector
  int rows;   // of the largest tile
  void (*compute[kVectors][2][2][kMaxRows])(const GemmTile&);

  Index panel() const { return kVectors * width; }
};

const GemmKernels& gemm_portable();  // any machine; slow where fma is no instruction
#if defined(__x86_64__)
const GemmKernels& gemm_avx2();  // with FMA
const GemmKernels& gemm_avx512();
#endif

#define SOFTALIGN_UNROLL _Pragma("GCC unroll 16")

// V: a vector of V::kWidth floats. The accumulators [Rows][Vectors] stay in registers.
template <class V, int Rows, int Vectors, bool Tail, bool Packed>
void compute_tile(const GemmTile& t) {
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
  const Index a_row = t.a_row, a_k = t.a_k, b_row = Packed ? Vectors * kWidth : t.b_row;
  for (Index p = 0; p < t.k; ++p) {
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

template <class V>
GemmKernels gemm_kernels(const char* name) {
  GemmKernels kernels{name, V::kWidth, V::kRows, {}};
  fill_table<V, V::kRows>(kernels);
  return kernels;
}

}  // namespace softalign
