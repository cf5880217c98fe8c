// Softmax and cross-entropy over rows of logits. V: vocabulary.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Of logits [rows, V]: nll[row] = -log p(target), best[row] = the first largest. In one
// visit, for the logits of a few rows are larger than a cache; if wanted they hold afterwards their
// gradient, that of factor * sum nll: factor (p - onehot(target)); else they mean nothing any more. With label smoothing the gradient is that of
// factor * sum of (1 - smoothing) nll + smoothing uniform, uniform[row] = mean over v of -log p(v), which is
// not written when smoothing is 0.
void softmax_cross_entropy(Index rows,
                           Index vocabulary,
                           const Token* targets,
                           real factor,
                           real* logits,
                           real* nll,
                           Token* best,
                           bool gradients,
                           real smoothing = 0,
                           real* uniform = nullptr);
// sums[row] = log sum exp of its logits, for search: log p(v) = logits[v] - sums[row].
void log_sum_exp(Index rows, Index vocabulary, const real* logits, real* sums);
// The first index from `first` on with x > bound; `count` if there is none.
Index first_above(Index first, Index count, const real* x, real bound);

}  // namespace softalign::kernels
