// The components of a Transformer's encoder and decoder (Vaswani et al. 2017, section 3), in the
// paper's order from the input on. d: units of the model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"

namespace softalign {

struct TransformerOptions {
  Index layers = 2;
  Index heads = 4;
  Index units = 256;
  Index feed_forward = 1024;
  double dropout = 0;
  std::string positions = "sinusoidal";
  Index max_positions = 1024;
  std::string norm = "post";
  template <class V>
  void describe(V& v) {
    v("layers", layers, "layers; paper: 6", between(1, 24));
    v("heads", heads, "attention heads of each layer; paper: 8", between(1, kLargestLayer));
    v("units",
      units,
      "width of the model, divided among the heads of a layer; paper: 512. Embeddings of another "
      "width are projected",
      between(1, kLargestLayer));
    v("feed_forward",
      feed_forward,
      "inner units of the feed-forward networks; paper: 2048",
      between(1, kLargestLayer));
    v("dropout",
      dropout,
      "dropout rate of embeddings with positions, and of the output of each sub-layer; paper: 0.1",
      fraction());
    v("positions",
      positions,
      "encoding of positions: sinusoidal (paper), or learned vectors",
      one_of("sinusoidal", "learned"));
    v("max_positions",
      max_positions,
      "number of learned vectors; later positions share the last",
      between(1, kLongestSentence));
    v("norm",
      norm,
      "layer normalisation: post, after each sum of a sub-layer and its input (paper); pre, before "
      "each sub-layer and after the last sum",
      one_of("post", "pre"));
    v.inactive("max_positions", positions == "sinusoidal", "sinusoidal positions are unlimited");
    v.check("heads", units % heads == 0, "units must be a multiple of heads");
  }
};

class LayerNorm {
 public:
  LayerNorm(const Parameters& p, std::string_view name, Index size)
      : gain_((p / name).add("gain", {size}, init::constant(1))),
        bias_((p / name).add("bias", {size}, init::zeros())) {}
  Var operator()(Var x) const {
    return layer_norm(x, x.tape().parameter(*gain_), x.tape().parameter(*bias_));
  }

 private:
  Parameter* gain_;
  Parameter* bias_;
};

// Embeddings and positions (sections 3.4, 3.5).
class TransformerInput {
 public:
  TransformerInput(const Parameters& p, Index embedding, const TransformerOptions& options);
  Var projected(Var embedded) const { return projection_ ? (*projection_)(embedded) : embedded; }
  // sqrt(d) x + positions; x [..., d], projected
  Var operator()(Var x, Index first) const;

 private:
  Var sinusoids(Tape& tape, Index first, Index count) const;  // [count, d]

  std::optional<Linear> projection_;  // only for embeddings that are not of size d
  Parameter* learned_;                // [max_positions, d]; null: sinusoids
  std::vector<double> rates_;         // [d] of sinusoids, in radians a position
  real scale_;
  Dropout dropout_;
};

// A sub-layer f with residual connection and normalisation: norm(x + f(x)), or x + f(norm(x)).
class Residual {
 public:
  Residual(const Parameters& p, std::string_view name, const TransformerOptions& options)
      : norm_(p / name, "norm", options.units),
        dropout_(p / name, "dropout", options.dropout),
        pre_(options.norm == "pre") {}

  template <class Sublayer>
  Var operator()(Var x, Index first, Sublayer f) const {
    Var y = drop_out(dropout_, f(pre_ ? norm_(x) : x), first);
    Var sum = add(std::move(y), x);
    return pre_ ? sum : norm_(sum);
  }
  static Var drop_out(const Dropout& dropout, Var x, Index first) {  // first: x's first position
    if (x.shape().rank() == 2) return dropout(x, first);
    return x.shape().is_steps_first() ? dropout.steps_first(x) : dropout.sentences_first(x);
  }

 private:
  LayerNorm norm_;
  Dropout dropout_;
  bool pre_;
};

// Attention of a sequence to itself (section 3.2.2); no biases.
class SelfAttention {
 public:
  SelfAttention(const Parameters& p, std::string_view name, const TransformerOptions& options);
  // x [B,S,d], each sees all of its sentence. each: the weights of each head are wanted.
  MultiHead within(Var x, std::span<const Index> lengths, bool each) const;
  Var causal(Var x) const;  // [T,B,d], each sees itself and the past
  // x [B,d] attends to itself and the past: keys and values [B,t,2d], to which those of x are
  // appended.
  Var step(Var x, Var& past) const;

 private:
  Index units_, heads_;
  Linear projections_;  // queries, keys, values side by side
  Linear output_;
};

// Attention to a memory of keys and values; no biases.
class CrossAttention {
 public:
  CrossAttention(const Parameters& p,
                 std::string_view name,
                 Index query,
                 Index units,
                 Index heads,
                 Index output)
      : units_(units),
        heads_(heads),
        queries_(p / name, "queries", query, units, Linear::Bias::no),
        output_(p / name, "output", units, output, Linear::Bias::no) {}

  enum class Wanted { context, mean, each };  // each includes those before it
  // x [T,B,Q] or [B,Q]; keys are columns [begin, begin + units) of memory [B,S,...], values the next.
  MultiHead operator()(
      Var x, Var memory, Index begin, std::span<const Index> lengths, Wanted wanted) const;

 private:
  Index units_, heads_;
  Linear queries_;
  Linear output_;
};

// Section 3.3: max(0, x W_1 + b_1) W_2 + b_2.
class FeedForward {
 public:
  FeedForward(const Parameters& p, std::string_view name, const TransformerOptions& options)
      : inner_(p / name, "inner", options.units, options.feed_forward),
        outer_(p / name, "outer", options.feed_forward, options.units) {}
  Var operator()(Var x) const { return outer_(relu(inner_(x))); }

 private:
  Linear inner_;
  Linear outer_;
};

}  // namespace softalign
