// The model: embeddings, encoder, decoder with its attention, projection to the vocabulary. It
// joins what the registry built and knows none of it by name.
#pragma once

#include <memory>
#include <span>

#include "framework/data/batch.hpp"
#include "framework/nn/layers.hpp"
#include "framework/seq/decoder.hpp"

namespace softalign {

struct ModelOptions {
  Index embedding = 256;
  Choice encoder{.kind = "encoder", .type = "bidirectional_gru"};
  Choice attention{.kind = "attention", .type = "global"};
  Choice decoder{.kind = "decoder", .type = "attentional_gru"};
  template <class V>
  void describe(V& v) {
    v("embedding",
      embedding,
      "size of the symbol embeddings, both sides",
      between(1, kLargestLayer));
    v("encoder", encoder, "what makes annotations of the source");
    v("attention",
      attention,
      "what the decoder sees of the source at each step; none: vanilla seq2seq");
    v("decoder", decoder, "what writes the target");
  }
};

class Model {
 public:
  // Draws the initial values of all parameters from the seed.
  Model(const ModelOptions& options,
        Index source_symbols,
        Index target_symbols,
        std::uint64_t seed);

  ParameterStore& parameters() { return store_; }
  const ParameterStore& parameters() const { return store_; }
  bool aligns() const { return decoder_->aligns(); }
  bool reads_links() const { return decoder_->reads_links(); }  // of every batch
  Index target_symbols() const { return target_symbols_; }
  const Encoder& encoder() const { return *encoder_; }

  // Teacher forcing over a batch (rows sorted by descending source length).
  struct Forward {
    TokenLosses losses;                // sentence by sentence: [B * T]
    std::span<const Var> weights;      // T times [B,S]; empty when the model does not align
    std::span<const Index> positions;  // [B], of the sentences' annotations
    std::array<double, 2> attention_totals = {};  // ExtraLoss
  };
  // loss = factor * sum of nll over all target symbols.
  Forward forward(Tape& tape, const Batch& batch, real factor) const;

  // After an update, with the attention_totals of its batch.
  void after_update(const std::array<double, 2>& attention_totals) const {
    if (attention_ != nullptr) attention_->after_update(attention_totals);
  }

  // For search: source sentences to memory and first state, then step by step.
  struct Source {
    Memory memory;
    State state;
  };
  Source read(Tape& tape, const SourceBatch& source) const;
  struct Prediction {
    State next;
    Var logits;   // [B,V]
    Var weights;  // [B,S] or empty
  };
  Prediction predict(Tape& tape, const Source& source, std::span<const Token> previous) const;

 private:
  ParameterStore store_;
  Index target_symbols_;
  std::unique_ptr<Embedding> source_embedding_;  // null: the encoder reads symbols
  std::unique_ptr<Embedding> target_embedding_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Decoder> decoder_;
  Attention* attention_ = nullptr;  // the decoder's, which owns it
  std::unique_ptr<Linear> projection_;
};

}  // namespace softalign
