// Softmax and cross-entropy over rows of logits. V: vocabulary.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Computes nll[row] = -log p(target) and best[row], the first index of the largest logit, from logits
// [rows, V], in one pass, because the logits of a few rows are larger than a cache. The logits become
// undefined or, with `gradients`, the gradient of factor * sum nll: factor (p - onehot(target)). With label
// smoothing it is the gradient of factor * sum of (1 - smoothing) nll + smoothing uniform, with uniform[row] =
// mean over v of -log p(v), which is not written if smoothing is 0.
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
// sums[row] = log sum exp of the row's logits, for search: log p(v) = logits[v] - sums[row].
void log_sum_exp(Index rows, Index vocabulary, const real* logits, real* sums);
// Returns the first index >= first with x > bound, or count.
Index first_above(Index first, Index count, const real* x, real bound);

}  // namespace softalign::kernels
