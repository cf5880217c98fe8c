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
  bool argmax = false;  // what else it reads: the most probable symbol, or one drawn
};

struct OutputSizes {
  Index readout;          // R
  Index symbols;          // V
  const Embedding* tied;  // of the target, whose table is the weights; null: weights of its own
  Index outputs = 0;      // O, of the decoder's steps; 0: it does not hand them on
  Index embedding = 0;    // E, of the target
  // [V]: the numbers that the symbols are as text (TargetFormat); empty: not all are, not_a_number is the first.
  std::span<const double> values = {};
  std::string_view not_a_number = {};
};

// All T steps of teacher forcing; in a search one step, with [B] instead of [T,B].
struct OutputInput {
  Var readout;                    // [T,B,R]
  std::span<const Var> weights;   // T times [B,S]; empty when the decoder does not align
  const AttentionMemory& memory;  // of the source
  Var outputs = {};               // [T,B,O], of the decoder's steps, which the readout is made from
  Var embedded = {};              // [T,B,E], the symbols before
};

// The logit of a symbol that cannot be written.
inline constexpr real kImpossible = -std::numeric_limits<real>::infinity();

// A part of a batch before its loss, which is computed for all parts together.
struct OutputRows {
  State inputs;        // what OutputLayer::prepare made
  SourceBatch source;  // its sentences
  std::span<const Token>
      targets;  // [T,B], -1 after a target's end; of a layer that copies below V + S
  // Written by the loss, but not where a row is skipped.
  real* nll;  // [T,B], -log p in nats
  real*
      uniform;  // [T,B], the mean of -log p over the vocabulary's symbols; only with label smoothing
  Token* best;  // [T,B], the most probable symbol
};

// Returns the address at which the gradient of a parameter is accumulated; null: not needed.
using GradientOf = std::function<real*(const Parameter&)>;

class OutputLayer {
 public:
  virtual ~OutputLayer() = default;

  // The arrays [T,B,...] that the loss reads, on the tape of a part.
  virtual State prepare(const OutputInput& input) const { return {input.readout}; }
  // Writes the rows of all parts, and adds the gradients of sentence_loss to those of the inputs and of its
  // parameters, sentence by sentence, so that neither parts nor threads change a bit. scratch is rewound
  // afterwards.
  virtual void loss(std::span<const OutputRows> parts,
                    const Objective& objective,
                    const GradientOf& gradient,
                    Workers& workers,
                    Arena& scratch) const = 0;
  // [T,B,V]: log p of every symbol, up to a number for each row. A layer that copies: [T,B,V + S], for the symbols of
  // Copies, too; kImpossible where no word begins that the vocabulary lacks.
  virtual Var logits(const OutputInput& input) const = 0;
  // [V], added to the logits of every row; empty where the layer has no bias.
  virtual View bias() const { return {}; }
  // true: it reads SourceBatch::copies and the weights, which are then there, one for each source symbol.
  virtual bool copies() const { return false; }
  // [T,B,1]: of a layer that copies, the probability that a symbol is written and not copied; empty: 0.
  virtual Var p_gen(const OutputInput& /*input*/) const { return {}; }
  // Multiply-adds of the loss per target symbol, without those of prepare.
  virtual Index multiplications() const = 0;
};

OutputRows output_rows(const OutputLayer& layer,
                       const OutputInput& input,
                       std::span<const Token> targets,
                       const Objective& objective);
// factor * sum of (1 - smoothing) nll + smoothing uniform (Szegedy et al. 2016, section 7), after the loss.
real sentence_loss(const OutputRows& part, Index sentence, const Objective& objective);
// The losses of a single part, on its tape. The gradient of the loss must be 1 (BugError): use
// objective.factor to scale it.
TokenLosses losses_of(const OutputLayer& layer, const OutputRows& part, const Objective& objective);

// OutputLayer::loss of a projection of inputs[0] to the vocabulary. row_loss: see ProjectedLoss.
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
