// The projection to the vocabulary with its loss, for a batch or for the parts that it was cut into. Logits are
// the largest array of a model, so they live only for a chunk of rows: turned into probabilities, then into
// their own gradient, and that at once into the gradients of the weight, the bias and the features. Rows come
// sentence by sentence, whatever the parts: so the bits do not depend on them, nor on the threads.
#pragma once

#include <functional>
#include <span>

#include "framework/autodiff/tape.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

// Of a part of a batch: rows of features with their targets, both as sentence_rows() finds them.
struct ProjectedRows {
  View features;                   // [..., R]
  std::span<const Token> targets;  // [rows]; below 0: skipped
  real* dfeatures = nullptr;       // shaped like the features, accumulated; null: not needed
  // Written, but not where a row is skipped.
  real* nll;      // [rows], -log p in nats
  real* uniform;  // [rows], the mean of -log p over all symbols; only with smoothing
  Token* best;    // [rows], the most probable symbol
};

// A loss other than the softmax's cross-entropy, of a row of `parts[part]` that is not skipped: writes its nll, best
// and uniform, and turns its logits [V] into their own gradient where that is asked for. Rows are computed by any
// thread.
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

// Rows that are computed in one piece: their logits stay in a cache, and in the thread's memory.
inline constexpr Index kLogitRows = 24;

// scratch: rewound.
void project_and_compare(std::span<const ProjectedRows> parts,
                         const ProjectedLoss& loss,
                         Workers& workers,
                         Arena& scratch);

}  // namespace softalign
