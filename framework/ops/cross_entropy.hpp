// The projection to the vocabulary with its loss, for a batch or its parts. Logits are the largest array of a
// model, so they exist only for a chunk of rows: they become probabilities, then their own gradient, and that at
// once the gradients of the weight, the bias and the features. Rows are processed sentence by sentence, so the
// bits depend neither on the parts nor on the threads.
#pragma once

#include <functional>
#include <span>

#include "framework/autodiff/tape.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

// Rows of features of a part of a batch, with their targets in the same layout (see sentence_rows()).
struct ProjectedRows {
  View features;                   // [..., R]
  std::span<const Token> targets;  // [rows]; below 0: skipped
  real* dfeatures = nullptr;       // shaped like the features, accumulated; null: not needed
  // Outputs; the entries of skipped rows are not written.
  real* nll;      // [rows], -log p in nats
  real* uniform;  // [rows], the mean of -log p over all symbols; only with smoothing
  Token* best;    // [rows], the most probable symbol
};

// A loss other than softmax cross-entropy, for a row of `parts[part]` that is not skipped: writes the row's nll, best
// and uniform and, with `gradient`, replaces its logits [V] by their gradient. It may be called on any thread.
using RowLoss = std::function<void(Index part, Index row, real* logits, bool gradient)>;

struct ProjectedLoss {
  Matrix weight;     // [R,V]
  const real* bias;  // [V]
  real factor;       // the loss is factor * sum of (1 - smoothing) nll + smoothing uniform
  real smoothing = 0;
  real* dweight = nullptr;  // stored like the weight, accumulated, as is dbias; null: not needed
  real* dbias = nullptr;
  const RowLoss* row_loss =
      nullptr;  // null: (1 - smoothing) nll + smoothing uniform of the softmax
};

// Rows computed in one block: their logits stay in a cache, and in the thread's memory.
inline constexpr Index kLogitRows = 24;

// Computes the losses of all rows, and the gradients that are not null. Rewinds scratch.
void project_and_compare(std::span<const ProjectedRows> parts,
                         const ProjectedLoss& loss,
                         Workers& workers,
                         Arena& scratch);

}  // namespace softalign
