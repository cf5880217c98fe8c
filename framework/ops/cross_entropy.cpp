#include "framework/kernels/cross_entropy.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

// Logits exist once, for the rows that count: probabilities replace them, and their gradient
// replaces those in backward.
TokenLosses projected_cross_entropy(
    Var features, Var w, Var bias, std::span<const Token> targets, real factor) {
  const Index all = features.shape().rows(), size = features.shape().last();
  ops::require(w.shape().rank() == 2 && w.shape()[0] == size &&
                   bias.shape().size() == w.shape()[1] && all == static_cast<Index>(targets.size()),
               "projected_cross_entropy",
               "features [N,R], w [R,V], bias [V] and N targets must agree",
               features,
               w,
               bias);
  const Index vocabulary = w.shape()[1];
  Tape& tape = features.tape();
  Index* rows = tape.arena().array_of<Index>(all);
  Token* wanted = tape.arena().array_of<Token>(all);
  Index count = 0;
  for (Index i = 0; i < all; ++i)
    if (targets[static_cast<std::size_t>(i)] >= 0) {
      rows[count] = i;
      wanted[count++] = targets[static_cast<std::size_t>(i)];
    }
  View loss = tape.zeros({1});
  View nll = tape.zeros({all});
  Token* best = tape.arena().array_of<Token>(all);
  std::fill_n(best, all, Token{-1});

  View x = tape.allocate({count, size});
  for (Index i = 0; i < count; ++i)
    std::copy_n(features.value().data + rows[i] * size, size, x.data + i * size);
  View p = tape.allocate({count, vocabulary});
  real chunk_nll[64];
  Token chunk_best[64];
  for (Index begin = 0; begin < count;
       begin += 64) {  // a chunk of logits stays in the cache for its softmax
    const Index n = std::min<Index>(64, count - begin);
    real* logits = p.data + begin * vocabulary;
    gemm({x.data + begin * size, n, size},
         {w.value().data, size, vocabulary},
         false,
         logits,
         vocabulary);
    kernels::add_rows(n, vocabulary, bias.value().data, logits);
    kernels::softmax_cross_entropy(n, vocabulary, wanted + begin, logits, chunk_nll, chunk_best);
    for (Index i = 0; i < n; ++i) {
      nll.data[rows[begin + i]] = chunk_nll[i];
      best[rows[begin + i]] = chunk_best[i];
    }
  }
  double total = 0;
  for (real value : nll) total += static_cast<double>(value);
  loss.data[0] = static_cast<real>(static_cast<double>(factor) * total);

  Var out = tape.record(loss, {features, w, bias}, [=, &tape](View dloss) {
    View dfeatures = features.gradient(), dw = w.gradient(), db = bias.gradient();
    kernels::cross_entropy_gradient(count, vocabulary, wanted, factor * dloss.data[0], p.data);
    if (dfeatures) {
      const Arena::Mark mark = tape.arena().mark();
      View dx = tape.allocate(x.shape);
      gemm({p.data, count, vocabulary},
           Matrix{w.value().data, size, vocabulary}.transpose(),
           false,
           dx.data,
           size);
      for (Index i = 0; i < count; ++i)
        kernels::add(size, dx.data + i * size, dfeatures.data + rows[i] * size);
      tape.arena().rewind(mark);
    }
    if (dw)
      gemm(Matrix{x.data, count, size}.transpose(),
           {p.data, count, vocabulary},
           true,
           dw.data,
           vocabulary);
    if (db) kernels::sum_rows(count, vocabulary, p.data, db.data);
  });
  const auto n = static_cast<std::size_t>(all);
  return {out, {nll.data, n}, {best, n}};
}

}  // namespace softalign
