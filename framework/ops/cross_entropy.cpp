#include "framework/ops/cross_entropy.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

constexpr Index kRows = 256;  // of a thread whose logits exist at a time
constexpr Index kColumns =
    1024;  // of the weight's gradient that are computed in one piece, at least

// A row that is not skipped.
struct Row {
  const ProjectedRows* part;
  Index at;  // in the part
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
          rows[count++] = {&part, at};
  }
  return {rows, usize(count)};
}

class Chunk {
 public:
  Chunk(const ProjectedLoss& loss, bool gradients, Index most, Arena& arena)
      : loss_(loss),
        gradients_(gradients),
        size_(loss.weight.rows),
        vocabulary_(loss.weight.columns),
        x_(arena.array({most, size_}).data),
        logits_(arena.array({most, vocabulary_}).data),
        dx_(gradients ? arena.array({most, size_}).data : nullptr) {}

  // Rows [first, first + count) of the chunk: logits, losses, their gradients and those of the features.
  void compute(std::span<const Row> rows, Index first, Index count) const {
    real* x = x_ + first * size_;
    real* logits = logits_ + first * vocabulary_;
    real nll[kRows], uniform[kRows];
    Token targets[kRows], best[kRows];
    for (Index i = 0; i < count; ++i) {
      const Row& row = rows[usize(first + i)];
      std::copy_n(row.part->features.data + row.at * size_, size_, x + i * size_);
      targets[i] = row.part->targets[usize(row.at)];
    }
    gemm({x, count, size_}, loss_.weight, false, logits, vocabulary_, loss_.bias);
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
    if (!gradients_) return;
    real* dx = dx_ + first * size_;
    gemm({logits, count, vocabulary_}, loss_.weight.transpose(), false, dx, size_);
    for (Index i = 0; i < count; ++i)
      if (const Row& row = rows[usize(first + i)]; row.part->dfeatures != nullptr)
        kernels::add(size_, dx + i * size_, row.part->dfeatures + row.at * size_);
  }

  // Of the weight and the bias: symbols [first, first + count).
  void compute_weight(Index rows, Index first, Index count) const {
    const Matrix dy{logits_ + first, rows, count, vocabulary_}, x{x_, rows, size_};
    if (real* dw = loss_.dweight; dw != nullptr && loss_.weight.transposed)
      gemm(dy.transpose(), x, true, dw + first * size_, size_);
    else if (dw != nullptr)
      gemm(x.transpose(), dy, true, dw + first, vocabulary_);
    if (loss_.dbias == nullptr) return;
    for (Index i = 0; i < rows; ++i)
      kernels::add(count, dy.data + i * vocabulary_, loss_.dbias + first);
  }

 private:
  const ProjectedLoss& loss_;
  bool gradients_;
  Index size_, vocabulary_;
  real *x_, *logits_, *dx_;
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
  const Chunk chunk(loss, gradients, most, scratch);
  for (Index begin = 0; begin < all; begin += most) {
    const Index n = std::min(most, all - begin), slices = std::min(n, threads);
    const std::span<const Row> now = rows.subspan(usize(begin), usize(n));
    workers.run(slices, [&](Index i) {
      const Index first = i * n / slices;
      chunk.compute(now, first, (i + 1) * n / slices - first);
    });
    if (!of_weight) continue;
    workers.run(pieces, [&](Index i) {
      chunk.compute_weight(n, i * width, std::min(width, vocabulary - i * width));
    });
  }
  scratch.rewind(mark);
}

real sentence_loss(const ProjectedRows& part, Index sentence, const ProjectedLoss& loss) {
  const SentenceRows rows = sentence_rows(part.features);
  double total = 0, spread = 0;
  for (Index s = 0; s < rows.positions; ++s) {
    const Index at = (rows.row(sentence, s) - rows.data) / rows.columns;
    if (part.targets[usize(at)] < 0) continue;
    total += static_cast<double>(part.nll[at]);
    if (loss.smoothing > 0) spread += static_cast<double>(part.uniform[at]);
  }
  const auto share = static_cast<double>(loss.smoothing);
  if (share > 0) total = (1 - share) * total + share * spread;
  return static_cast<real>(static_cast<double>(loss.factor) * total);
}

// Backward only hands on the gradient of the features, hence its own must be 1.
TokenLosses projected_cross_entropy(Var features,
                                    Var w,
                                    Var bias,
                                    std::span<const Token> targets,
                                    real factor,
                                    real smoothing,
                                    Tape::Weight how) {
  const Index all = features.shape().rows(), size = features.shape().last();
  const Index vocabulary = bias.shape().size();
  const bool turned = how == Tape::Weight::transposed;
  ops::require(w.shape() == (turned ? Shape{vocabulary, size} : Shape{size, vocabulary}) &&
                   all == static_cast<Index>(targets.size()),
               "projected_cross_entropy",
               turned ? "features [N,R], w [V,R], bias [V] and N targets must agree"
                      : "features [N,R], w [R,V], bias [V] and N targets must agree",
               features,
               w,
               bias);
  Tape& tape = features.tape();
  const bool training = tape.training();
  View nll = tape.zeros({all}), uniform = tape.zeros({smoothing > 0 ? all : 0});
  Token* best = tape.arena().array_of<Token>(all);
  std::fill_n(best, all, Token{-1});
  View dx = training && features.needs_gradient() ? tape.zeros(features.shape()) : View{};
  const Matrix as_it_is{w.value().data, w.shape()[0], w.shape()[1]};
  const ProjectedRows part{
      features.value(), targets, dx.data, nll.data, smoothing > 0 ? uniform.data : nullptr, best};
  Workers alone(1);
  const ProjectedLoss what{turned ? as_it_is.transpose() : as_it_is,
                           bias.value().data,
                           factor,
                           smoothing,
                           training ? tape.whole_gradient(w) : nullptr,
                           training ? tape.whole_gradient(bias) : nullptr};
  // As good as empty now, while the other arena is full.
  project_and_compare({&part, 1}, what, alone, tape.gradient_arena());
  View losses = tape.allocate({features.shape().rank() == 1 ? 1 : features.shape().sentences()});
  for (Index b = 0; b < losses.size(); ++b) losses.data[b] = sentence_loss(part, b, what);
  Var result = tape.record(losses, {features, w, bias}, [=](View dlosses) {
    for (real d : dlosses)
      if (d != 1)
        throw BugError(
            "[projected_cross_entropy] its gradient must be 1, not {}: scale with `factor`", d);
    if (View dfeatures = features.gradient()) kernels::add(dx.size(), dx.data, dfeatures.data);
  });
  const auto n = usize(all);
  return {result, {nll.data, n}, {best, n}};
}

}  // namespace softalign
