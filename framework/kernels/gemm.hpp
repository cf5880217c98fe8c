// Matrix products on row-major arrays: our own, so that their bits are the same on every machine
// (gemm_tile.hpp says how) and no call allocates memory. One thread inside, always: threads belong
// to the parts of a batch.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// What products round their operands to; sums are float32 always (gemm_tile.hpp).
enum class Precision { float32, bfloat16 };

// While one exists, products of the whole process have its precision. Make one only while nothing is
// computed. The double build knows no other precision than its own.
class ProductPrecision {
 public:
  explicit ProductPrecision(Precision precision);
  ~ProductPrecision();
  ProductPrecision(const ProductPrecision&) = delete;
  ProductPrecision& operator=(const ProductPrecision&) = delete;

 private:
  Precision before_;
};

// Numbers to be read as a matrix [rows, columns]; stride: from one row to the next, as stored.
struct Matrix {
  const real* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index stride = columns;
  bool transposed = false;  // `data` holds the transpose, rows `stride` apart
  bool pairs = false;       // `data` holds pairs of rows, rounded to bfloat16: of RowPanels::panel

  Matrix transpose() const { return {data, columns, rows, stride, !transposed, pairs}; }
};

// What a product takes: a matrix as it lies, or in the order in which a product reads it.
struct Operand {
  Operand(const Matrix& m) : matrix(m) {}  // NOLINT(google-explicit-constructor)
  Matrix matrix;
  const real* packed = nullptr;
  Index places = 0;  // of a packed one: how many there are for its k, used or not
};

// A right operand in that order, for one that serves many products of few rows: reading it as it lies, or
// putting it in order every time, would take longer than computing.
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

// A right operand of up to `rows` rows [rows, columns] in that order, put there a few rows at a time.
class RowPanels {
 public:
  static Index size(Index rows, Index columns);  // numbers that `to` must hold
  RowPanels(Index rows, Index columns, real* to) : rows_(rows), columns_(columns), numbers_(to) {}
  static Index width();                      // of a panel
  void put(Index first, Matrix rows) const;  // not transposed; first: even
  Operand first_rows(Index count) const { return columns(0, columns_, count); }
  Operand columns(Index first, Index count) const { return columns(first, count, rows_); }
  // One panel as it lies, [rows, columns up to width()].
  Matrix panel(Index first) const;

 private:
  Operand columns(Index first, Index count, Index rows) const;
  Index rows_, columns_;
  real* numbers_;
};

// A left operand of up to `columns` columns [rows, columns] likewise, which come as rows of its transpose.
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

// C = A B, or with add C + A B; bias [n], when there is one, is added to every row. A [m, k], B [k, n],
// C [m, n] with rows c_stride apart. Throws BugError when the sizes disagree. The bits do not depend on
// packing. The double build computes through xtensor-blas, on one thread.
void gemm(const Operand& a,
          const Operand& b,
          bool add,
          real* c,
          Index c_stride,
          const real* bias = nullptr);

// Called before each product when set, on the thread that computes it: how a benchmark learns which
// products a step consists of. No observer normally; set one only while nothing is computed.
using GemmObserver =
    void (*)(const Operand& a, const Operand& b, bool add, real* c, Index c_stride);
void observe_gemm(GemmObserver observer);

// While one exists, products on its thread are made as if B were 0, and B is not read: for who wants to know
// what memory a computation takes, not what comes of it. One at a time.
class UncomputedProducts {
 public:
  UncomputedProducts();
  ~UncomputedProducts();
  UncomputedProducts(const UncomputedProducts&) = delete;
  UncomputedProducts& operator=(const UncomputedProducts&) = delete;
  static bool here();
};

// What this machine can run, the best first: "AVX-512", "AVX2", "NEON", "portable"; in the double build, the
// BLAS. All but that give the same bits. The best is in use at first, or what the variable SOFTALIGN_ISA names
// (avx512, avx2, neon, portable). Throws SpecError for a name that this machine does not know.
std::vector<std::string> gemm_variants();
std::string gemm_variant();                      // the one in use
void use_gemm_variant(const std::string& name);  // for tests and benchmarks; while nothing runs

// Copies a matrix into the memory of its transpose.
// to[j * stride + i] = from(i, j); `from` as stored, not transposed itself.
void transpose(Matrix from, real* to, Index stride);

}  // namespace softalign
