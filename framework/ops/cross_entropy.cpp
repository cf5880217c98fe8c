#include "framework/ops/cross_entropy.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

constexpr Index kRows = 256;  // rows per thread whose logits exist at a time
// Columns of a piece of the weight's gradient (at least), of the packed weight and of its packed transpose.
constexpr Index kColumns = 128, kPacked = 1024, kPackedTransposed = 64;

// A weight, packed in pieces by several threads.
class Packs {
 public:
  Packs(Matrix w, Index width, Arena& arena)
      : w_(w),
        width_(width),
        count_((w.columns + width - 1) / width),
        packs_(arena.array_of<PackedMatrix>(count_)),
        numbers_(arena.array_of<real*>(count_)) {
    for (Index i = 0; i < count_; ++i)
      numbers_[i] = arena.array({PackedMatrix::size(piece(i))}).data;
  }
  Index count() const { return count_; }
  void pack(Index i) { new (packs_ + i) PackedMatrix(piece(i), numbers_[i]); }
  // Computes c [x.rows, w.columns] = x w + bias.
  void multiply(Matrix x, real* c, const real* bias = nullptr) const {
    for (Index i = 0; i < count_; ++i)
      gemm(x,
           packs_[i],
           false,
           c + i * width_,
           w_.columns,
           bias == nullptr ? nullptr : bias + i * width_);
  }

 private:
  Matrix piece(Index i) const {
    Matrix piece = w_;
    piece.data += i * width_ * (w_.transposed ? w_.stride : 1);
    piece.columns = std::min(width_, w_.columns - i * width_);
    return piece;
  }
  Matrix w_;
  Index width_, count_;
  PackedMatrix* packs_;
  real** numbers_;
};

// A row that is not skipped.
struct Row {
  const ProjectedRows* part;
  Index at;      // row in the part
  Index number;  // index of the part
};

std::span<const Row> rows_of(std::span<const ProjectedRows> parts, Arena& arena) {
  Index most = 0, count = 0;
  for (const ProjectedRows& part : parts) most += std::ssize(part.targets);
  Row* rows = arena.array_of<Row>(most);
  for (const ProjectedRows& part : parts) {
    const SentenceRows all = sentence_rows(part.features);
    for (Index b = 0; b < all.sentences; ++b)
      for (Index s = 0; s < all.positions; ++s)
        if (const Index at = (all.row(b, s) - all.data) / all.columns; part.targets[usize(at)] >= 0)
          rows[count++] = {&part, at, &part - parts.data()};
  }
  return {rows, usize(count)};
}

class Chunk {
 public:
  // most: maximum number of rows at a time.
  Chunk(const ProjectedLoss& loss, bool gradients, Index most, Arena& arena)
      : loss_(loss),
        gradients_(gradients),
        of_weight_(loss.dweight != nullptr || loss.dbias != nullptr),
        size_(loss.weight.rows),
        vocabulary_(loss.weight.columns),
        weight_(loss.weight, kPacked, arena),
        transposed_(gradients ? loss.weight.transpose() : Matrix{}, kPackedTransposed, arena),
        x_(arena.array({most, size_}).data),
        ones_(arena.array({most}).data),
        dlogits_(arena.array({of_weight_ ? RowPanels::size(most, vocabulary_) : 0}).data) {
    std::fill_n(ones_, most, real{1});
  }

  void pack(Workers& workers) {
    workers.run(transposed_.count() + weight_.count(), [&](Index i) {
      i < transposed_.count() ? transposed_.pack(i) : weight_.pack(i - transposed_.count());
    });
  }

  // Computes logits and losses of these rows, and the gradients of the logits and the features.
  void compute(std::span<const Row> rows, Index first, Index count) const {
    thread_local Arena scratch;
    scratch.rewind({});
    real* logits = scratch.array({count, vocabulary_}).data;
    real* dx = scratch.array({count, size_}).data;
    real* x = x_ + first * size_;
    real nll[kLogitRows], uniform[kLogitRows];
    Token targets[kLogitRows], best[kLogitRows];
    for (Index i = 0; i < count; ++i) {
      const Row& row = rows[usize(first + i)];
      std::copy_n(row.part->features.data + row.at * size_, size_, x + i * size_);
      targets[i] = row.part->targets[usize(row.at)];
    }
    weight_.multiply({x, count, size_}, logits, loss_.bias);
    if (loss_.row_loss != nullptr) {
      for (Index i = 0; i < count; ++i) {
        const Row& row = rows[usize(first + i)];
        (*loss_.row_loss)(row.number, row.at, logits + i * vocabulary_, gradients_);
      }
    } else {
      kernels::softmax_cross_entropy(count,
                                     vocabulary_,
                                     targets,
                                     loss_.factor,
                                     logits,
                                     nll,
                                     best,
                                     gradients_,
                                     loss_.smoothing,
                                     uniform);
      for (Index i = 0; i < count; ++i) {
        const Row& row = rows[usize(first + i)];
        row.part->nll[row.at] = nll[i];
        row.part->best[row.at] = best[i];
        if (loss_.smoothing > 0) row.part->uniform[row.at] = uniform[i];
      }
    }
    if (!gradients_) return;
    const Matrix dlogits{logits, count, vocabulary_};
    if (of_weight_) RowPanels(std::ssize(rows), vocabulary_, dlogits_).put(first, dlogits);
    transposed_.multiply(dlogits, dx);
    for (Index i = 0; i < count; ++i)
      if (const Row& row = rows[usize(first + i)]; row.part->dfeatures != nullptr)
        kernels::add(size_, dx + i * size_, row.part->dfeatures + row.at * size_);
  }

  // Computes the gradients of the weight and the bias for symbols [first, first + count), from all rows.
  void compute_weight(Index rows, Index first, Index count) const {
    const RowPanels panels(rows, vocabulary_, dlogits_);
    const Matrix x{x_, rows, size_};
    if (real* dw = loss_.dweight; dw != nullptr && loss_.weight.transposed)
      for (Index column = first; column < first + count; column += RowPanels::width())
        gemm(panels.panel(column).transpose(), x, true, dw + column * size_, size_);
    else if (dw != nullptr)
      gemm(x.transpose(), panels.columns(first, count), true, dw + first, vocabulary_);
    if (loss_.dbias != nullptr)
      gemm(Matrix{ones_, 1, rows},
           panels.columns(first, count),
           true,
           loss_.dbias + first,
           vocabulary_);
  }

 private:
  const ProjectedLoss& loss_;
  bool gradients_, of_weight_;
  Index size_, vocabulary_;
  Packs weight_, transposed_;
  real *x_, *ones_, *dlogits_;
};

}  // namespace

void project_and_compare(std::span<const ProjectedRows> parts,
                         const ProjectedLoss& loss,
                         Workers& workers,
                         Arena& scratch) {
  const Arena::Mark mark = scratch.mark();
  const std::span<const Row> rows = rows_of(parts, scratch);
  const bool of_weight = loss.dweight != nullptr || loss.dbias != nullptr;
  const bool gradients = of_weight || std::any_of(parts.begin(), parts.end(), [](const auto& part) {
                           return part.dfeatures != nullptr;
                         });
  const Index all = std::ssize(rows), threads = workers.threads(),
              most = std::min(all, kRows * threads), vocabulary = loss.weight.columns,
              width = std::max(kColumns, (vocabulary / threads + 31) / 32 * 32),
              pieces = (vocabulary + width - 1) / width;
  Chunk chunk(loss, gradients, most, scratch);
  chunk.pack(workers);
  for (Index begin = 0; begin < all; begin += most) {
    // Blocks begin at even rows, as RowPanels requires.
    const Index n = std::min(most, all - begin), pairs = (n + 1) / 2,
                blocks = (2 * pairs + kLogitRows - 1) / kLogitRows;
    const std::span<const Row> now = rows.subspan(usize(begin), usize(n));
    workers.run(blocks, [&](Index i) {
      const Index first = 2 * (i * pairs / blocks),
                  end = std::min(n, 2 * ((i + 1) * pairs / blocks));
      chunk.compute(now, first, end - first);
    });
    if (!of_weight) continue;
    workers.run(pieces, [&](Index i) {
      chunk.compute_weight(n, i * width, std::min(width, vocabulary - i * width));
    });
  }
  scratch.rewind(mark);
}

}  // namespace softalign
