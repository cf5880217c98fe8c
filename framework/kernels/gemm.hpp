// Matrix products on row-major arrays. One thread inside, always: threads belong to the shards.
#pragma once

#include <string>

#include "framework/base/types.hpp"

namespace softalign {

// Numbers to be read as a matrix [rows, columns]; stride: from one row to the next, as stored.
struct Matrix {
  const real* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index stride = columns;
  bool transposed = false;  // `data` holds the transpose, rows `stride` apart

  Matrix transpose() const { return {data, columns, rows, stride, !transposed}; }
};

// C = A B + beta C. A [m, k], B [k, n], C [m, n] with rows c_stride apart. Throws BugError when the
// sizes disagree.
void gemm(Matrix a, Matrix b, real beta, real* c, Index c_stride);

// The same through xtensor-blas: what the double build uses, and the reference for the other.
void portable_gemm(Matrix a, Matrix b, real beta, real* c, Index c_stride);

// Called before each product when set, on the thread that computes it: how a benchmark learns which
// products a step consists of. Null normally; set it only while nothing is computed.
using GemmObserver = void (*)(Matrix a, Matrix b, real beta, real* c, Index c_stride);
void observe_gemm(GemmObserver observer);

// Which library computes the products and for which instruction set: "oneDNN 2.6.3 (AVX512_CORE)".
std::string gemm_library();

}  // namespace softalign
