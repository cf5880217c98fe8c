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
// Rows of logits into log-probabilities in place, for search.
void log_softmax(Index rows, Index vocabulary, real* logits);

}  // namespace softalign::kernels
