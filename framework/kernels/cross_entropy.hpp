// Softmax and cross-entropy over rows of logits. V: vocabulary.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

// Turns logits [rows, V] into probabilities in place; nll[row] = -log p(target), best[row] = the
// first largest logit.
void softmax_cross_entropy(
    Index rows, Index vocabulary, const Token* targets, real* logits, real* nll, Token* best);
// Turns probabilities into the gradient of factor * sum nll, in place: factor (p - onehot(target)).
void cross_entropy_gradient(
    Index rows, Index vocabulary, const Token* targets, real factor, real* probabilities);
// sums[row] = log sum exp of its logits, for search: log p(v) = logits[v] - sums[row].
void log_sum_exp(Index rows, Index vocabulary, const real* logits, real* sums);
// The first index from `first` on where x > bound; `count` when there is none.
Index first_above(Index first, Index count, const real* x, real bound);

}  // namespace softalign::kernels
