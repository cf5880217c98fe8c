// The model: embeddings, encoder, decoder with its attention, output layer, and initial weights. It joins
// plugins from the registry and knows none of them by name.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/autodiff/parameters.hpp"
#include "framework/config/options.hpp"
#include "framework/data/batches.hpp"
#include "framework/nn/layers.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/output_layer.hpp"

namespace softalign {

// Initial weights in place of each layer's own: spec.model.initialise.
struct InitialiseOptions {
  std::string type = "uniform";
  double scale = 0.1;
  bool orthogonal = true;
  std::optional<std::vector<std::string>> weights;
  template <class V>
  void describe(V& v) {
    v("type",
      type,
      "uniform: in [-scale, scale); normal: with mean 0 and standard deviation scale; own: the "
      "default of each layer",
      one_of("uniform", "normal", "own"));
    v("scale", scale, "see type", qualify_name(positive()));
    v("orthogonal",
      orthogonal,
      "true: recurrent weights that are orthogonal by default stay so; false: drawn like the "
      "others");
    v("weights",
      weights,
      "initial values of single parameters, also biases, as NAME = HOW; NAME: as in softalign "
      "parameters, * matches any characters; HOW: zeros, constant X, uniform X, normal X, glorot, "
      "orthogonal; the last match applies",
      qualify_name());
    v.inactive("scale", type == "own", "type is own");
    v.inactive("orthogonal", type == "own", "type is own");
  }
};

// Replaces initialisers; call it before the values are drawn. Throws SpecError for an unknown parameter name.
void initialise(ParameterStore& store, const InitialiseOptions& options);

// Dropout rates for both sides; encoders and decoders have those of recurrent layers.
struct DropoutOptions {
  double embeddings = 0;
  double outputs = 0;
  double words = 0;
  template <class V>
  void describe(V& v) {
    v("embeddings", embeddings, "dropout rate of symbol embeddings", qualify_name(fraction()));
    v("outputs", outputs, "dropout rate before the output layer", qualify_name(fraction()));
    v("words",
      words,
      "share of symbols whose whole embedding is set to 0 (Sennrich et al. 2016, Edinburgh's WMT "
      "systems)",
      qualify_name(fraction()));
  }
};

struct ModelOptions {
  Index embedding = 256;
  std::string tied_embeddings = "none";
  Choice encoder{.kind = "encoder", .type = "gru"};
  Choice attention{.kind = "attention", .type = "global"};
  Choice decoder{.kind = "decoder", .type = "attentional_gru"};
  Choice output{.kind = "output_layer", .type = "softmax"};
  std::optional<DropoutOptions> dropout;
  std::optional<InitialiseOptions> initialise;
  template <class V>
  void describe(V& v) {
    v("embedding",
      embedding,
      "width of the symbol embeddings, both sides",
      between(1, kLargestLayer));
    v("tied_embeddings",
      tied_embeddings,
      "shared tables: target, the target embeddings are the projection's weights; all, also the "
      "source embeddings, with one vocabulary for both sides (Press and Wolf 2017)",
      one_of("none", "target", "all"));
    v("encoder", encoder, "computes the annotations of the source");
    v("attention", attention, "weights and context at each decoder step; none: vanilla seq2seq");
    v("decoder", decoder, "writes the target");
    v("output", output, "computes symbol probabilities from the decoder's readouts");
    v("dropout", dropout, "dropout rates in training; null: none");
    v("initialise",
      initialise,
      "initial weights, except biases and other constants unless they are named; null: the default "
      "of each layer, mostly Glorot and Bengio 2010");
  }
};

class Model {
 public:
  // Declares its parameters with their shapes, without values. Throws SpecError if parts do not fit
  // together.
  Model(const ModelOptions& options, const SourceFormat& source, const TargetFormat& target);
  // Also draws the initial values of all parameters from the seed. frozen: names of parameters that
  // are not trained.
  Model(const ModelOptions& options,
        const SourceFormat& source,
        const TargetFormat& target,
        std::uint64_t seed,
        const std::vector<std::string>& frozen = {})
      : Model(options, source, target) {
    store_.freeze(frozen);
    store_.allocate(seed);
  }

  ParameterStore& parameters() { return store_; }
  const ParameterStore& parameters() const { return store_; }
  bool aligns() const { return decoder_->aligns(); }
  // Returns whether a loss on the weights has an effect.
  bool learns_weights() const {
    return aligns() && (attention_ == nullptr || attention_->weights_are_learned());
  }
  bool reads_links() const { return decoder_->reads_links(); }  // true: every batch must have links
  BatchParts batch_parts() const { return {reads_links(), copies_.get()}; }
  bool weights_can_change() const {
    return attention_ != nullptr && attention_->weights_can_change();
  }
  // Returns whether the weights are a distribution, from which a position can be drawn.
  bool weights_sum_to_one() const {
    return aligns() && (attention_ == nullptr || attention_->weights_sum_to_one());
  }
  Index target_symbols() const { return target_symbols_; }
  bool steps() const { return decoder_->steps(); }  // training can process steps one by one
  const Encoder& encoder() const { return *encoder_; }
  bool decoder_attends() const { return decoder_->attends(); }  // target positions to each other
  bool reads_symbols() const {                                  // of the source
    return !source_projection_ && encoder_->reads() != Encoder::Reads::frames;
  }
  // Returns links between symbols as links between annotations and target symbols, without duplicates.
  std::vector<Link> placed(std::span<const Link> links) const;
  void place_links(Batch& batch) const;

  // Source sentences, prepared for the decoder.
  struct Source {
    AttentionMemory memory;
    State state;  // the decoder's initial state
    Annotations annotations;
    Var embedded = {};  // [B,S,E]; empty unless the encoder reads embeddings
  };
  // heads: receives the weights of an encoder that attends().
  Source read(Tape& tape, const SourceBatch& source, HeadWeights* heads = nullptr) const;

  // Teacher forcing over a batch (rows sorted by descending source length), or a part of one, up to the
  // output layer.
  struct Taught {
    Var readout;                       // [T,B,R]
    Var outputs;                       // [T,B,O], of the decoder's steps
    Var embedded;                      // [T,B,E], of the previous symbols
    std::span<const Token> targets;    // [T,B], -1 after a target's end
    std::span<const Var> weights;      // T times [B,S]; empty when the model does not align
    std::span<const Index> positions;  // [B], numbers of annotations
    Source source;

    OutputInput output() const { return {readout, weights, source.memory, outputs, embedded}; }
  };
  Taught teach(Tape& tape,
               const Batch& batch,
               const Objective& objective,
               const Inspection& inspection = {}) const;
  const OutputLayer& output_layer() const { return *output_layer_; }
  // Returns the loss that is minimised in addition to -log p of the targets. nll: [T,B].
  ExtraLoss extra_loss(Tape& tape,
                       const Taught& taught,
                       const Batch& batch,
                       std::span<const real> nll,
                       const Objective& objective) const;

  // The whole forward pass on one tape.
  struct Forward {
    TokenLosses losses;            // nll and best are [B,T]; the loss is the whole objective
    std::span<const Var> weights;  // as in Taught, as are the positions
    std::span<const Index> positions;
    std::span<const Totals> totals;  // ExtraLoss
    Source source;
  };
  Forward forward(Tape& tape,
                  const Batch& batch,
                  const Objective& objective,
                  const Inspection& inspection = {}) const;
  // loss = factor * sum of nll over all target symbols.
  Forward forward(Tape& tape,
                  const Batch& batch,
                  real factor,
                  const Inspection& inspection = {}) const {
    return forward(tape, batch, Objective{.factor = factor}, inspection);
  }

  // Call it after each update, with the totals of the batch (ExtraLoss).
  void after_update(const Totals& totals) const {
    if (attention_ != nullptr) attention_->after_update(totals);
  }

  // One step of a search, after the source was read or after another step.
  struct Prediction {
    State next;
    Var logits;   // [B,V], or [B,V + S], see OutputLayer::logits
    Var weights;  // [B,S] or empty
  };
  Prediction predict(Tape& tape, const Source& source, std::span<const Token> previous) const;

 private:
  Var embed_source(Tape& tape, const SourceBatch& source) const;
  Var embed_target(Tape& tape, std::span<const Token> symbols, Shape leading, Index step = 0) const;
  Unrolled unroll_sampled(Tape& tape,
                          const Source& source,
                          std::span<Token> symbols,
                          Index rows,
                          const Objective& objective) const;
  OutputInput output_of(const DecoderStep& step, Var embedded, const AttentionMemory& memory) const;
  void feed_own_symbols(const DecoderStep& step,
                        Var embedded,
                        const AttentionMemory& memory,
                        std::span<Token> next,
                        Index position,
                        const Objective& objective) const;

  ParameterStore store_;
  Index target_symbols_;
  std::unique_ptr<Embedding> own_source_embedding_;
  std::unique_ptr<Embedding> target_embedding_;
  const Embedding* source_embedding_ = nullptr;  // null: the encoder reads no embeddings of symbols
  std::optional<Linear> source_projection_;      // of frames
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Decoder> decoder_;
  Attention* attention_ = nullptr;  // the decoder's, which owns it
  std::unique_ptr<OutputLayer> output_layer_;
  std::shared_ptr<const Copies> copies_;  // null: nothing is copied
  struct Dropouts {
    Dropout source_words, source_embeddings, target_words, target_embeddings, outputs;
  };
  std::optional<Dropouts> dropouts_;
  RandomStream sampling_{0, "noise/scheduled_sampling"};
};

}  // namespace softalign
