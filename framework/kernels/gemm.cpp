#include "framework/kernels/gemm.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/arena.hpp"
#include "framework/base/error.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm_tile.hpp"
#include "framework/kernels/work.hpp"

#ifdef SOFTALIGN_DOUBLE
#include "framework/base/blas.hpp"
#if __has_include(<openblas_config.h>)
extern "C" void openblas_set_num_threads(int);
#define SOFTALIGN_OPENBLAS 1
#endif
#endif

namespace softalign {
namespace {

GemmObserver observer_of_gemm = nullptr;
Precision precision = Precision::float32;
thread_local bool uncomputed = false;

void check(Matrix a, Matrix b) {
  if (a.columns != b.rows)
    throw BugError("[gemm] [{}, {}] times [{}, {}]", a.rows, a.columns, b.rows, b.columns);
}

#ifdef SOFTALIGN_DOUBLE

void multiply(const Operand& left,
              const Operand& right,
              bool add,
              real* c,
              Index c_stride,
              const real* bias) {
  const Matrix a = left.matrix, b = right.matrix;
#ifdef SOFTALIGN_OPENBLAS
  thread_local const bool one_thread = (openblas_set_num_threads(1), true);
  (void)one_thread;
#endif
  const auto blas = [](Matrix x) {
    return x.transposed ? cxxblas::Transpose::Trans : cxxblas::Transpose::NoTrans;
  };
  cxxblas::gemm<int>(cxxblas::StorageOrder::RowMajor,
                     blas(a),
                     blas(b),
                     static_cast<int>(a.rows),
                     static_cast<int>(b.columns),
                     static_cast<int>(a.columns),
                     real{1},
                     a.data,
                     static_cast<int>(a.stride),
                     b.data,
                     static_cast<int>(b.stride),
                     add ? real{1} : real{0},
                     c,
                     static_cast<int>(c_stride));
  if (bias == nullptr) return;
  for (Index i = 0; i < a.rows; ++i)
    for (Index j = 0; j < b.columns; ++j) c[i * c_stride + j] += bias[j];
}

#else

constexpr Index kDepth =
    512;  // elements of a block, so that a packed panel of B stays in the second-level cache
constexpr Index kFewRows =
    48;  // up to this number, B is read without packing, which would not pay off
constexpr Index kSpare = 16;  // numbers of a complete vector, which packing A writes if possible

// A packed operand has one element for every k, or for every two of bfloat16.
bool in_pairs() { return precision == Precision::bfloat16; }
Index places(Index k) { return in_pairs() ? (k + 1) / 2 : k; }

// For x(k, j) stored by k: to[p * stride + j] = the pair of x(2 p, j) and x(2 p + 1, j), of elements
// [first, first + count) and columns [column, column + n).
void pair_rows(Matrix x, Index first, Index count, Index column, Index n, real* to, Index stride) {
  kernels_in_use().pair_rows(x.data + 2 * first * x.stride + column,
                             std::min(2 * count, x.rows - 2 * first),
                             n,
                             x.stride,
                             to,
                             stride);
}

// For x(i, k) stored by i: to[i * stride + p] = the pair of x(row + i, 2 (first + p)) and its successor.
void pair_neighbours(
    Matrix x, Index row, Index n, Index first, Index count, real* to, Index stride) {
  for (Index i = 0; i < n; ++i)
    kernels_in_use().pair_neighbours(x.data + (row + i) * x.stride + 2 * first,
                                     std::min(2 * count, x.columns - 2 * first),
                                     to + i * stride);
}

static_assert(GemmKernels::kMaxRows <= kSpare);

// Packs a transposed A: to[p * rows + i] = a(i, p).
void pack_a(Matrix a, Index row, Index rows, Index first, Index depth, real* to) {
  const real* from = a.data + first * a.stride + row;
  // Writes complete vectors if possible: the next vector overwrites the surplus numbers.
  const Index overwritten = depth + 1 - (kSpare + rows - 1) / rows;
  const Index whole = row + kSpare <= a.rows ? std::max<Index>(0, overwritten) : 0;
  if (in_pairs() && !a.pairs) {
    pair_rows(a.transpose(), first, whole, row, kSpare, to, rows);
    pair_rows(a.transpose(), first + whole, depth - whole, row, rows, to + whole * rows, rows);
    return;
  }
  for (Index p = 0; p < whole; ++p) std::copy_n(from + p * a.stride, kSpare, to + p * rows);
  for (Index p = whole; p < depth; ++p)
    for (Index i = 0; i < rows; ++i) to[p * rows + i] = from[p * a.stride + i];
}

// Copies an A that is not transposed: to[i * stride + p] = a(i, p).
void move_a(Matrix a, Index first, Index depth, real* to, Index stride) {
  if (in_pairs())
    pair_neighbours(a, 0, a.rows, first, depth, to, stride);
  else
    for (Index i = 0; i < a.rows; ++i)
      std::copy_n(a.data + i * a.stride + first, depth, to + i * stride);
}

// Packs a panel of B: to[p * panel + j] = b(p, j), with zeros beyond `columns`.
void pack_b(
    Matrix b, Index column, Index columns, Index panel, Index first, Index depth, real* to) {
  if (columns < panel) std::fill_n(to, depth * panel, real{0});
  if (!b.transposed) {
    const real* from = b.data + first * b.stride + column;
    if (in_pairs())
      pair_rows(b, first, depth, column, columns, to, panel);
    else if (columns == kMostColumns)  // a constant count saves a call for each row
      for (Index p = 0; p < depth; ++p)
        std::copy_n(from + p * b.stride, kMostColumns, to + p * panel);
    else
      for (Index p = 0; p < depth; ++p) std::copy_n(from + p * b.stride, columns, to + p * panel);
    return;
  }
  if (!in_pairs()) {
    transpose({b.data + column * b.stride + first, columns, depth, b.stride}, to, panel);
    return;
  }
  constexpr Index kAtOnce = 64;
  real rows[kMostColumns * kAtOnce];
  for (Index p = 0; p < depth; p += kAtOnce) {
    const Index n = std::min(kAtOnce, depth - p);
    pair_neighbours(b.transpose(), column, columns, first + p, n, rows, kAtOnce);
    transpose({rows, columns, n, kAtOnce}, to + p * panel, panel);
  }
}

// Returns the stored width of a panel of B. Panels are contiguous; the last may be narrower.
Index panel_width(Index columns) {
  const GemmKernels& k = kernels_in_use();
  return columns > k.width ? k.panel() : k.width;
}

// Divides rows of A into tiles of nearly equal height: 32 rows into 10, 11 and 11.
class Blocks {
 public:
  explicit Blocks(Index rows)
      : rows_(rows), count_((rows + kernels_in_use().rows - 1) / kernels_in_use().rows) {}
  Index count() const { return count_; }
  Index begin(Index block) const { return block * rows_ / count_; }
  Index rows(Index block) const { return begin(block + 1) - begin(block); }

 private:
  Index rows_, count_;
};

void multiply(const Operand& left,
              const Operand& right,
              bool add,
              real* c,
              Index c_stride,
              const real* bias) {
  const Matrix a = left.matrix, b = right.matrix;
  const GemmKernels& k = kernels_in_use();
  const Index m = a.rows, n = b.columns, panel = k.panel();
  const Index all = places(a.columns);
  const Blocks blocks(m);
  const bool packs_b = right.packed == nullptr && (b.transposed || m > kFewRows || in_pairs());
  const bool packed = packs_b || right.packed != nullptr;
  // Rows that are a multiple of 4 KiB apart would evict each other from the first-level cache, so they
  // are copied.
  const bool packs_a = left.packed == nullptr && a.transposed,
             blocks_of_a = packs_a || left.packed != nullptr,
             moves_a = !blocks_of_a && ((m > 1 && a.stride % 1024 == 0) || in_pairs());

  thread_local Arena scratch;
  scratch.rewind({});
  const Index depth = std::min(kDepth, all);
  const Index moved = depth + kSpare;
  real* packed_a = packs_a   ? scratch.array({m * depth}).data
                   : moves_a ? scratch.array({m * moved}).data
                             : nullptr;
  real* packed_b = packs_b ? scratch.array({panel * depth}).data : nullptr;
  if (a.columns == 0)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        c[i * c_stride + j] = (add ? c[i * c_stride + j] : 0) + (bias == nullptr ? 0 : bias[j]);

  for (Index first = 0; first < all; first += kDepth) {
    GemmTile tile{};
    tile.k = std::min(kDepth, all - first);
    tile.add = add || first > 0;
    tile.c_row = c_stride;
    if (packs_a)
      for (Index i = 0; i < blocks.count(); ++i)
        pack_a(
            a, blocks.begin(i), blocks.rows(i), first, tile.k, packed_a + blocks.begin(i) * tile.k);
    if (moves_a) move_a(a, first, tile.k, packed_a, moved);
    for (Index column = 0; column < n; column += panel) {
      const Index columns = std::min(panel, n - column);
      const int vectors = columns > k.width ? 2 : 1;
      const Index width = panel_width(columns);
      if (packs_b) pack_b(b, column, columns, width, first, tile.k, packed_b);
      tile.b = packs_b                   ? packed_b
               : right.packed != nullptr ? right.packed + column * right.places + first * width
                                         : b.data + first * b.stride + column;
      tile.b_row = b.stride;
      tile.bias = bias != nullptr && first + tile.k == all && !in_pairs() ? bias + column : nullptr;
      tile.tail = static_cast<int>(columns % k.width);
      const auto& compute = in_pairs() ? k.pairs[vectors - 1][tile.tail > 0]
                                       : k.compute[vectors - 1][tile.tail > 0][packed];
      for (Index i = 0; i < blocks.count(); ++i) {
        const Index row = blocks.begin(i), rows = blocks.rows(i);
        tile.a = packs_a       ? packed_a + blocks.begin(i) * tile.k
                 : blocks_of_a ? left.packed + blocks.begin(i) * left.places + first * rows
                 : moves_a     ? packed_a + row * moved
                               : a.data + row * a.stride + first;
        tile.a_row = blocks_of_a ? 1 : moves_a ? moved : a.stride;
        tile.a_k = blocks_of_a ? rows : 1;
        tile.c = c + row * c_stride + column;
        // Prefetches the data of later tiles, because the processor does not prefetch across pages.
        const Index ahead = i * tile.k * kCacheLine;
        if (right.packed != nullptr && ahead < tile.k * width)
          tile.next = tile.b + right.places * width + ahead;
        else
          tile.next = tile.a + rows * (blocks_of_a ? tile.k : tile.a_row);
        compute[rows - 1](tile);
      }
    }
  }
  if (bias != nullptr && in_pairs())
    for (Index i = 0; i < m; ++i) kernels::add(n, bias, c + i * c_stride);
}

#endif

}  // namespace

ProductPrecision::ProductPrecision(Precision now) : before_(std::exchange(precision, now)) {}
ProductPrecision::~ProductPrecision() { precision = before_; }

void observe_gemm(GemmObserver observer) { observer_of_gemm = observer; }

UncomputedProducts::UncomputedProducts() { uncomputed = true; }
UncomputedProducts::~UncomputedProducts() { uncomputed = false; }
bool UncomputedProducts::here() { return uncomputed; }

void gemm(const Operand& a, const Operand& b, bool add, real* c, Index c_stride, const real* bias) {
  const Index rows = a.matrix.rows, columns = b.matrix.columns;
  check(a.matrix, b.matrix);
  if (rows == 0 || columns == 0) return;
  work_of_thread().multiplications += rows * columns * a.matrix.columns;
  if (uncomputed) {
    if (add) return;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) c[i * c_stride + j] = bias == nullptr ? 0 : bias[j];
    return;
  }
  if (observer_of_gemm != nullptr) observer_of_gemm(a, b, add, c, c_stride);
  multiply(a, b, add, c, c_stride, bias);
}

#ifdef SOFTALIGN_DOUBLE

Index PackedMatrix::size(Matrix) { return 0; }
PackedMatrix::PackedMatrix(Matrix b, real*) : matrix_(b) {}
PackedMatrix::operator Operand() const { return matrix_; }

Index RowPanels::size(Index rows, Index columns) { return rows * columns; }
Index RowPanels::width() { return 32; }
Matrix RowPanels::panel(Index first) const {
  return {numbers_ + first, rows_, std::min(width(), columns_ - first), columns_};
}
void RowPanels::put(Index first, Matrix rows) const {
  for (Index i = 0; i < rows.rows; ++i)
    std::copy_n(rows.data + i * rows.stride, columns_, numbers_ + (first + i) * columns_);
}
Operand RowPanels::columns(Index first, Index count, Index rows) const {
  return Matrix{numbers_ + first, rows, count, columns_};
}

Index ColumnPanels::size(Index rows, Index columns) { return rows * columns; }
void ColumnPanels::put(Index first, Matrix columns) const {
  for (Index i = 0; i < columns.rows; ++i)
    std::copy_n(columns.data + i * columns.stride, rows_, numbers_ + (first + i) * rows_);
}
Operand ColumnPanels::first_columns(Index count) const {
  return Matrix{numbers_, count, rows_}.transpose();
}

#else

Index PackedMatrix::size(Matrix b) {
  const Index width = kernels_in_use().width;
  return (b.columns + width - 1) / width * width * places(b.rows);
}

PackedMatrix::PackedMatrix(Matrix b, real* to) : matrix_(b), panels_(to) {
  if (uncomputed) return;
  const Index panel = kernels_in_use().panel();
  for (Index column = 0; column < b.columns; column += panel) {
    const Index columns = std::min(panel, b.columns - column), width = panel_width(columns);
    // Packs in blocks, because a whole transposed panel would not stay in the first-level cache.
    const Index all = places(b.rows);
    for (Index first = 0; first < all; first += kDepth)
      pack_b(b,
             column,
             columns,
             width,
             first,
             std::min(kDepth, all - first),
             to + column * all + first * width);
  }
}

Index RowPanels::size(Index rows, Index columns) {
  return PackedMatrix::size({nullptr, rows, columns});
}

Index RowPanels::width() { return kernels_in_use().panel(); }

Matrix RowPanels::panel(Index first) const {
  const Index columns = std::min(width(), columns_ - first);
  return {
      numbers_ + first * places(rows_), rows_, columns, panel_width(columns), false, in_pairs()};
}

PackedMatrix::operator Operand() const {
  Operand whole(matrix_);
  whole.packed = panels_;
  whole.places = places(matrix_.rows);
  return whole;
}

// Goes panel by panel, because the rows of a panel are contiguous.
void RowPanels::put(Index first, Matrix rows) const {
  if (uncomputed) return;
  const Index all = places(rows_), before = places(first), now = places(rows.rows);
  for (Index column = 0; column < columns_; column += width()) {
    const Matrix to = panel(column);
    pack_b(
        rows, column, to.columns, to.stride, 0, now, numbers_ + column * all + before * to.stride);
  }
}

Operand RowPanels::columns(Index first, Index count, Index rows) const {
  Operand columns(Matrix{nullptr, rows, count});
  columns.places = places(rows_);
  columns.packed = numbers_ + first * columns.places;
  return columns;
}

Index ColumnPanels::size(Index rows, Index columns) { return rows * places(columns); }

void ColumnPanels::put(Index first, Matrix columns) const {
  if (uncomputed) return;
  const Blocks blocks(rows_);
  const Index all = places(columns_), before = places(first), now = places(columns.rows);
  for (Index i = 0; i < blocks.count(); ++i)
    pack_a(columns.transpose(),
           blocks.begin(i),
           blocks.rows(i),
           0,
           now,
           numbers_ + blocks.begin(i) * all + before * blocks.rows(i));
}

Operand ColumnPanels::first_columns(Index count) const {
  Operand all(Matrix{nullptr, rows_, count});
  all.places = places(columns_);
  all.packed = numbers_;
  return all;
}

#endif

}  // namespace softalign
