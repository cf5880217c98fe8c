// Components of a Transformer's encoder and decoder (Vaswani et al. 2017, section 3), in the paper's
// order, beginning with the input. d: width of the model. Positions enter in one of five ways:
//   sinusoidal, learned   added to the embeddings (section 3.5)
//   relative              vectors of clipped distances inside self-attention (Shaw et al. 2018, section 3)
//   rotary                rotation of queries and keys of self-attention (Su et al. 2021, section 3.2)
//   none                  not at all; masked self-attention still shows a decoder how much precedes
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
  std::optional<Index> clip;
  std::optional<bool> relative_values;
  std::optional<bool> relative_shared;
  std::optional<double> attention_dropout;
  std::optional<double> inner_dropout;
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
      "positions: sinusoidal (paper) or learned vectors, added to embeddings; relative, vectors of "
      "distances in self-attention (Shaw et al. 2018); rotary, turned queries and keys of "
      "self-attention (Su et al. 2021); none",
      one_of("sinusoidal", "learned", "relative", "rotary", "none"));
    v("max_positions",
      max_positions,
      "number of learned vectors; later positions share the last",
      between(1, kLongestSentence));
    v("clip",
      clip,
      "relative positions: distances beyond it share a vector; null: 16 (Shaw et al. 2018, k)",
      between(1, kLongestSentence));
    v("relative_values",
      relative_values,
      "relative positions: true: vectors of distances in values, too (Shaw et al. 2018, equation "
      "3), not only in keys (equation 4); null: no");
    v("relative_shared",
      relative_shared,
      "relative positions: true: the heads of a layer share their vectors; null: each head has its "
      "own");
    v("attention_dropout",
      attention_dropout,
      "dropout rate of attention weights, of the source and the own side; null: 0",
      fraction());
    v("inner_dropout",
      inner_dropout,
      "dropout rate of the inner units of feed-forward networks, after the ReLU; null: 0",
      fraction());
    v("norm",
      norm,
      "layer normalisation: post, after each sum of a sub-layer and its input (paper); pre, before "
      "each sub-layer and after the last sum",
      one_of("post", "pre"));
    v.inactive("max_positions", positions != "learned", "only positions: learned reads it");
    for (const char* name : {"clip", "relative_values", "relative_shared"})
      v.inactive(name, positions != "relative", "only positions: relative reads it");
    v.check("heads", units % heads == 0, "units must be a multiple of heads");
    v.check("positions",
            positions != "rotary" || units / heads % 2 == 0,
            "rotary turns pairs of numbers, so units / heads must be even");
  }
};

// The positions of a sequence or a single step: the first one, and the turns of rotary positions (rotate in
// ops.hpp) if the model has them.
struct Positions {
  Index first = 0;
  View turns = {};
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
  // Returns sqrt(d) x + positions, with dropout; x [..., d], projected.
  Var operator()(Var x, Index first) const;
  Positions positions(const Var& x, Index first) const;  // of x, for self-attention

 private:
  // [count, rates]: sines at even columns, cosines at odd ones
  View sinusoids(Tape& tape, Index first, Index count) const;
  View turns(Tape& tape, Index first, Index count) const;  // as sinusoids, but cosines first

  enum class Added { sinusoids, learned, nothing };
  std::optional<Linear> projection_;  // only for embeddings of another size than d
  Added added_;
  Parameter* learned_;  // [max_positions, d]; null: not learned
  // Radians per position: [d] for sinusoids, [d / heads] for turns, otherwise empty.
  std::vector<double> rates_;
  real scale_;
  Dropout dropout_;
};

// A sub-layer f with dropout, residual connection and normalisation: norm(x + f(x)), or x + f(norm(x)).
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

// Dropout of attention weights.
class AttentionDropout {
 public:
  AttentionDropout(const Parameters& p, std::string_view name, std::optional<double> rate)
      : stream_(0, "noise/" + (p / name).name_of("weights_dropout")), rate_(rate.value_or(0)) {}
  WeightDropout at(Index step) const { return {rate_, &stream_, step}; }

 private:
  RandomStream stream_;
  double rate_;
};

// Attention of a sequence to itself (section 3.2.2), without biases. If positions are relative, keys and values at
// distance j - i have the vectors a_ij of Shaw et al. 2018, equations 3 and 4.
class SelfAttention {
 public:
  enum class Sees { all, past };
  SelfAttention(const Parameters& p,
                std::string_view name,
                const TransformerOptions& options,
                Sees sees);
  // each: also return the weights of each head.
  // x [B,S,d]: every position sees its whole sentence.
  MultiHead within(Var x,
                   std::span<const Index> lengths,
                   const Positions& positions,
                   bool each) const;
  // x [T,B,d]: every position sees itself and the past.
  MultiHead causal(Var x, const Positions& positions, bool each) const;
  // x [B,d] attends to itself and to past: keys and values [B,t,2d], to which those of x are
  // appended.
  MultiHead step(Var x, Var& past, const Positions& positions, bool each) const;

 private:
  Var projected(Var x, const Positions& positions) const;
  MultiHead attend(Heads queries,
                   Heads keys,
                   Heads values,
                   MultiHeadSettings settings,
                   const Positions& positions) const;

  Index units_, heads_;
  Linear projections_;  // queries, keys, values side by side
  Index clip_ = 0;
  Parameter* distance_keys_ = nullptr;  // [2 clip + 1, d or d / heads], Sees::past: [clip + 1, ..]
  Parameter* distance_values_ = nullptr;  // the same
  AttentionDropout dropout_;
  Linear output_;
};

// Attention to a memory of keys and values, without biases.
class CrossAttention {
 public:
  CrossAttention(const Parameters& p,
                 std::string_view name,
                 Index query,
                 Index units,
                 Index heads,
                 Index output,
                 std::optional<double> dropout = {})
      : units_(units),
        heads_(heads),
        dropout_(p, name, dropout),
        queries_(p / name, "queries", query, units, Linear::Bias::no),
        output_(p / name, "output", units, output, Linear::Bias::no) {}

  enum class Wanted { context, mean, each };  // mean includes context, each includes both
  // x [T,B,Q] or [B,Q]; keys are columns [begin, begin + units) of memory [B,S,...], values the next
  // `units` columns. first: x's first step.
  MultiHead operator()(Var x,
                       Var memory,
                       Index begin,
                       std::span<const Index> lengths,
                       Wanted wanted,
                       Index first = 0) const;

 private:
  Index units_, heads_;
  AttentionDropout dropout_;
  Linear queries_;
  Linear output_;
};

// Section 3.3: max(0, x W_1 + b_1) W_2 + b_2.
class FeedForward {
 public:
  FeedForward(const Parameters& p, std::string_view name, const TransformerOptions& options)
      : inner_(p / name, "inner", options.units, options.feed_forward),
        dropout_(p / name, "inner_dropout", options.inner_dropout.value_or(0)),
        outer_(p / name, "outer", options.feed_forward, options.units) {}
  Var operator()(Var x, Index first) const {  // first: x's first position
    return outer_(Residual::drop_out(dropout_, relu(inner_(x)), first));
  }

 private:
  Linear inner_;
  Dropout dropout_;
  Linear outer_;
};

}  // namespace softalign
