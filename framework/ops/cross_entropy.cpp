#include "framework/kernels/cross_entropy.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

constexpr Index kChunk = 256;  // rows whose logits exist at a time

}  // namespace

// Logits are the largest array of a model, so they live only for a chunk of rows: turned into
// probabilities, then into their own gradient, and that at once into the gradients of w, bias and
// features. Backward only hands on the latter; hence its gradient must be 1.
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
  Index* rows = tape.arena().array_of<Index>(all);
  Token* wanted = tape.arena().array_of<Token>(all);
  Index count = 0;
  for (Index i = 0; i < all; ++i)
    if (targets[usize(i)] >= 0) {
      rows[count] = i;
      wanted[count++] = targets[usize(i)];
    }
  View loss = tape.zeros({1});
  View nll = tape.zeros({all});
  Token* best = tape.arena().array_of<Token>(all);
  std::fill_n(best, all, Token{-1});

  const bool training = tape.training();
  View dx = training && features.needs_gradient() ? tape.allocate({count, size}) : View{};
  View dw = training ? w.gradient() : View{}, db = training ? bias.gradient() : View{};
  const bool gradients = dx || dw || db;
  const Matrix as_it_is{w.value().data, w.shape()[0], w.shape()[1]};
  const Matrix weights = turned ? as_it_is.transpose() : as_it_is;

  Arena& arena = tape.gradient_arena();  // as good as empty now, while the other is full
  const Arena::Mark mark = arena.mark();
  const Index chunk = std::min(kChunk, count);
  View x = arena.array({chunk, size}), logits = arena.array({chunk, vocabulary});
  View nobody = gradients && !db ? arena.array({vocabulary}) : View{};
  double spread = 0;  // sum of uniform
  real chunk_nll[kChunk], chunk_uniform[kChunk];
  Token chunk_best[kChunk];
  for (Index begin = 0; begin < count; begin += kChunk) {
    const Index n = std::min(kChunk, count - begin);
    for (Index i = 0; i < n; ++i)
      std::copy_n(features.value().data + rows[begin + i] * size, size, x.data + i * size);
    const Matrix in{x.data, n, size}, out{logits.data, n, vocabulary};
    gemm(in, weights, false, logits.data, vocabulary, bias.value().data);
    kernels::softmax_cross_entropy(n,
                                   vocabulary,
                                   wanted + begin,
                                   factor,
                                   logits.data,
                                   chunk_nll,
                                   chunk_best,
                                   db ? db.data : nobody.data,
                                   smoothing,
                                   chunk_uniform);
    for (Index i = 0; i < n; ++i) {
      nll.data[rows[begin + i]] = chunk_nll[i];
      best[rows[begin + i]] = chunk_best[i];
      if (smoothing > 0) spread += static_cast<double>(chunk_uniform[i]);
    }
    if (dx) gemm(out, weights.transpose(), false, dx.data + begin * size, size);
    if (dw && turned) gemm(out.transpose(), in, true, dw.data, size);
    if (dw && !turned) gemm(in.transpose(), out, true, dw.data, vocabulary);
  }
  arena.rewind(mark);
  double total = 0;
  for (real value : nll) total += static_cast<double>(value);
  if (smoothing > 0) {
    const double share = static_cast<double>(smoothing);
    total = (1 - share) * total + share * spread;
  }
  loss.data[0] = static_cast<real>(static_cast<double>(factor) * total);

  Var result = tape.record(loss, {features, w, bias}, [=](View dloss) {
    if (dloss.data[0] != 1)
      throw BugError(
          "[projected_cross_entropy] its gradient must be 1, not {}: scale with `factor`",
          dloss.data[0]);
    View dfeatures = features.gradient();
    if (!dfeatures) return;
    for (Index i = 0; i < count; ++i)
      kernels::add(size, dx.data + i * size, dfeatures.data + rows[i] * size);
  });
  const auto n = usize(all);
  return {result, {nll.data, n}, {best, n}};
}

}  // namespace softalign
