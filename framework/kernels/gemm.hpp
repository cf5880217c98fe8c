// Matrix products on row-major arrays, implemented here so that their bits are the same on every
// machine (see gemm_tile.hpp) and no call allocates memory. Always single-threaded: threads work on
// parts of a batch.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// The type to which products round their operands; sums are always float32 (gemm_tile.hpp).
enum class Precision { float32, bfloat16 };

// While an object exists, all products of the process have its precision. Create one only while
// nothing is computed. The double build has only one precision.
class ProductPrecision {
 public:
  explicit ProductPrecision(Precision precision);
  ~ProductPrecision();
  ProductPrecision(const ProductPrecision&) = delete;
  ProductPrecision& operator=(const ProductPrecision&) = delete;

 private:
  Precision before_;
};

// A view of numbers as a matrix [rows, columns]; stride: numbers from one stored row to the next.
struct Matrix {
  const real* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index stride = columns;
  bool transposed = false;  // `data` holds the transpose, rows `stride` apart
  bool pairs = false;       // `data` holds pairs of rows rounded to bfloat16 (RowPanels::panel)

  Matrix transpose() const { return {data, columns, rows, stride, !transposed, pairs}; }
};

// The operand of a product: a matrix as stored, or packed in the order in which products read it.
struct Operand {
  Operand(const Matrix& m) : matrix(m) {}  // NOLINT(google-explicit-constructor)
  Matrix matrix;
  const real* packed = nullptr;
  Index places = 0;  // if packed: elements allocated along k
};

// A packed right operand, for many products of few rows, where reading it as stored, or packing it every
// time, would take longer than computing.
class PackedMatrix {
 public:
  static Index size(Matrix b);       // numbers that `to` must hold
  PackedMatrix(Matrix b, real* to);  // b and to must outlive it
  Matrix matrix() const { return matrix_; }
  operator Operand() const;  // NOLINT(google-explicit-constructor)

 private:
  Matrix matrix_;
  const real* panels_ = nullptr;
};

// A packed right operand of up to `rows` rows [rows, columns], filled a few rows at a time.
class RowPanels {
 public:
  static Index size(Index rows, Index columns);  // numbers that `to` must hold
  RowPanels(Index rows, Index columns, real* to) : rows_(rows), columns_(columns), numbers_(to) {}
  static Index width();                      // of a panel
  void put(Index first, Matrix rows) const;  // not transposed; first: even
  Operand first_rows(Index count) const { return columns(0, columns_, count); }
  Operand columns(Index first, Index count) const { return columns(first, count, rows_); }
  // Returns the panel that begins at column first, as stored: [rows, up to width() columns].
  Matrix panel(Index first) const;

 private:
  Operand columns(Index first, Index count, Index rows) const;
  Index rows_, columns_;
  real* numbers_;
};

// A packed left operand of up to `columns` columns [rows, columns], filled by rows of its transpose.
class ColumnPanels {
 public:
  static Index size(Index rows, Index columns);
  ColumnPanels(Index rows, Index columns, real* to)
      : rows_(rows), columns_(columns), numbers_(to) {}
  void put(Index first, Matrix columns) const;  // [count, rows], not transposed; first: even
  Operand first_columns(Index count) const;

 private:
  Index rows_, columns_;
  real* numbers_;
};

// Computes C = A B or, with add, C += A B; bias [n], if given, is added to every row. A [m, k], B [k, n],
// C [m, n] with rows c_stride apart. Throws BugError if the sizes disagree. The bits do not depend on
// packing. The double build computes through xtensor-blas, on one thread.
void gemm(const Operand& a,
          const Operand& b,
          bool add,
          real* c,
          Index c_stride,
          const real* bias = nullptr);

// If set, called before each product, on its thread: lets a benchmark list the products of a step.
// Set it only while nothing is computed.
using GemmObserver =
    void (*)(const Operand& a, const Operand& b, bool add, real* c, Index c_stride);
void observe_gemm(GemmObserver observer);

// While an object exists, products on its thread are computed as if B were 0, without reading B, to measure
// the memory of a computation without its results. Create only one at a time.
class UncomputedProducts {
 public:
  UncomputedProducts();
  ~UncomputedProducts();
  UncomputedProducts(const UncomputedProducts&) = delete;
  UncomputedProducts& operator=(const UncomputedProducts&) = delete;
  static bool here();
};

// Returns the variants that this machine supports, best first: "AVX-512", "AVX2", "NEON", "portable"; in the
// double build, the BLAS. All except the BLAS give the same bits. Initially the best is used, or the one named
// by SOFTALIGN_ISA (avx512, avx2, sse2, neon, portable). Throws SpecError for a name that this machine does not
// support.
std::vector<std::string> gemm_variants();
std::string gemm_variant();                      // the variant in use
void use_gemm_variant(const std::string& name);  // for tests and benchmarks; while nothing runs

// Writes the transpose of a matrix: to[j * stride + i] = from(i, j); from.transposed must be false.
void transpose(Matrix from, real* to, Index stride);

}  // namespace softalign
