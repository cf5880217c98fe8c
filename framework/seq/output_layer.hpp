// The contract of an output layer, which turns readouts, attention weights and source symbols into
// probabilities of the target symbols. Training calls its loss, search its logits.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/nn/layers.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/seq/attention.hpp"

namespace softalign {

// The objective of training over a batch: factor * (sum of the smoothed -log p of the target symbols, and
// additional losses).
struct Objective {
  real factor = 1;
  real label_smoothing = 0;    // share of the uniform distribution over the symbols
  real doubly_stochastic = 0;  // lambda, see doubly_stochastic_penalty
  real guided_alignment = 0;   // weight of alignment_cross_entropy; requires Batch::links
  real coverage = 0;           // lambda, see coverage_penalty
  // Scheduled sampling (Bengio et al. 2015), on a tape with noise.
  double truth = 1;     // probability that a step reads the true symbol
  bool argmax = false;  // the symbol read otherwise is the most probable one; false: a sample
};

struct OutputSizes {
  Index readout;          // R
  Index symbols;          // V
  const Embedding* tied;  // the target's, whose table is the layer's weights; null: not tied
  Index outputs = 0;      // O, of the decoder's steps; 0: not available
  Index embedding = 0;    // E, of the target
  // [V]: the numbers that the symbols denote (TargetFormat); empty: not_a_number is the first that denotes none.
  std::span<const double> values = {};
  std::string_view not_a_number = {};
};

// All T steps of teacher forcing; in a search one step, with [B] instead of [T,B].
struct OutputInput {
  Var readout;                    // [T,B,R]
  std::span<const Var> weights;   // T times [B,S]; empty when the decoder does not align
  const AttentionMemory& memory;  // of the source
  Var outputs = {};               // [T,B,O], of the decoder's steps, read by the readout
  Var embedded = {};              // [T,B,E], of the previous symbols
};

// The logit of a symbol that cannot be written.
inline constexpr real kImpossible = -std::numeric_limits<real>::infinity();

// A part of a batch before its loss, which is computed for all parts together.
struct OutputRows {
  State inputs;        // the result of OutputLayer::prepare
  SourceBatch source;  // its sentences
  // [T,B], -1 after a target's end; below V, or below V + S if the layer copies.
  std::span<const Token> targets;
  // Written by the loss, except for skipped rows.
  real* nll;      // [T,B], -log p in nats
  real* uniform;  // [T,B], the mean of -log p over the vocabulary; only with label smoothing
  Token* best;    // [T,B], the most probable symbol
};

// Returns the address at which the gradient of a parameter is accumulated; null: not needed.
using GradientOf = std::function<real*(const Parameter&)>;

class OutputLayer {
 public:
  virtual ~OutputLayer() = default;

  // Returns the arrays [T,B,...] that the loss reads, on the tape of a part.
  virtual State prepare(const OutputInput& input) const { return {input.readout}; }
  // Writes the rows of all parts, and adds the gradients of sentence_loss to those of the inputs and of the
  // layer's parameters, sentence by sentence, so that no bit depends on parts or threads. Rewinds scratch.
  virtual void loss(std::span<const OutputRows> parts,
                    const Objective& objective,
                    const GradientOf& gradient,
                    Workers& workers,
                    Arena& scratch) const = 0;
  // Returns log p of every symbol [T,B,V], up to a constant per row. A layer that copies returns [T,B,V + S], also for
  // the symbols of Copies; kImpossible at positions where no word begins that the vocabulary lacks.
  virtual Var logits(const OutputInput& input) const = 0;
  // Returns the bias [V] that is added to the logits of every row; empty if there is none.
  virtual View bias() const { return {}; }
  // true: the layer reads SourceBatch::copies and the weights, both of which have an entry for each source symbol.
  virtual bool copies() const { return false; }
  // Returns the probability [T,B,1] that a layer that copies generates a symbol instead of copying one; empty: 0.
  virtual Var p_gen(const OutputInput& /*input*/) const { return {}; }
  // Multiply-adds of the loss per target symbol, without those of prepare.
  virtual Index multiplications() const = 0;
};

OutputRows output_rows(const OutputLayer& layer,
                       const OutputInput& input,
                       std::span<const Token> targets,
                       const Objective& objective);
// Returns factor * sum of (1 - smoothing) nll + smoothing uniform (Szegedy et al. 2016, section 7). Call after loss().
real sentence_loss(const OutputRows& part, Index sentence, const Objective& objective);
// Returns the losses of a single part, on its tape. The gradient of the loss must be 1 (BugError): use
// objective.factor to scale it.
TokenLosses losses_of(const OutputLayer& layer, const OutputRows& part, const Objective& objective);

// Implements OutputLayer::loss for a projection of inputs[0] to the vocabulary. row_loss: see ProjectedLoss.
void projected_loss(const Projection& projection,
                    std::span<const OutputRows> parts,
                    const Objective& objective,
                    const GradientOf& gradient,
                    Workers& workers,
                    Arena& scratch,
                    const RowLoss* row_loss = nullptr);

struct OutputLayerKind {
  static constexpr const char* name = "output_layer";
  using Make = std::unique_ptr<OutputLayer>(const Parameters&, const OutputSizes&);
};

}  // namespace softalign

#define SOFTALIGN_OUTPUT_LAYER(name, Class, summary) \
  SOFTALIGN_PLUGIN(OutputLayerKind, name, Class, summary)
