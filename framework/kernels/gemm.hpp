// Matrix products on row-major arrays: our own, so that their bits are the same on every machine
// (gemm_tile.hpp says how) and no call allocates memory. One thread inside, always: threads belong
// to the shards.
#pragma once

#include <string>
#include <vector>

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

// C = A B, or with add C + A B. A [m, k], B [k, n], C [m, n] with rows c_stride apart. Throws
// BugError when the sizes disagree.
void gemm(Matrix a, Matrix b, bool add, real* c, Index c_stride);

// The same through xtensor-blas: what the double build uses, and the reference for the other.
void blas_gemm(Matrix a, Matrix b, bool add, real* c, Index c_stride);

// Called before each product when set, on the thread that computes it: how a benchmark learns which
// products a step consists of. Null normally; set it only while nothing is computed.
using GemmObserver = void (*)(Matrix a, Matrix b, bool add, real* c, Index c_stride);
void observe_gemm(GemmObserver observer);

// What this machine can run, the best first: "AVX-512", "AVX2", "portable"; in the double build, the
// BLAS. All but that give the same bits.
std::vector<std::string> gemm_variants();
std::string gemm_variant();                      // the one in use, at first the best
void use_gemm_variant(const std::string& name);  // for tests and benchmarks; while nothing runs

}  // namespace softalign
