// Modules with parameters: linear layers, embeddings, the projection to the vocabulary, positions; and dropout. A layer
// declares its parameters when it is built and is a pure function afterwards.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "framework/autodiff/parameters.hpp"
#include "framework/nn/initializers.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

// y = x W (+ b): [..., in] -> [..., out].
class Linear {
 public:
  enum class Bias : bool { no, yes };
  Linear(const Parameters& p,
         std::string_view name,
         Index in,
         Index out,
         Bias bias = Bias::yes,
         Initializer initializer = init::glorot(),
         Initializer of_bias = init::zeros())
      : weight_((p / name).add("W", {in, out}, std::move(initializer))),
        bias_(bias == Bias::yes ? (p / name).add("b", {out}, std::move(of_bias)) : nullptr) {}

  Var operator()(Var x) const { return linear(x, weight(x.tape()), bias(x.tape())); }
  Var add_to(Var&& base, Var x) const {  // base + x W in base's memory, for a layer without a bias
    return add_linear(std::move(base), x, weight(x.tape()));
  }
  Var weight(Tape& tape) const { return tape.parameter(*weight_); }
  Var bias(Tape& tape) const { return bias_ == nullptr ? Var() : tape.parameter(*bias_); }

 private:
  Parameter* weight_;
  Parameter* bias_;
};

// Rows of a table [symbols, size].
class Embedding {
 public:
  // tied: a Projection reads the table, too, so every row has a gradient.
  enum class Table : bool { looked_up, tied };
  Embedding(const Parameters& p,
            std::string_view name,
            Index symbols,
            Index size,
            Table table = Table::looked_up)
      : table_(table == Table::tied
                   ? (p / name).add("E", {symbols, size}, init::normal(0.1))
                   : (p / name).add_table("E", {symbols, size}, init::normal(0.1))),
        size_(size) {}

  Index size() const { return size_; }
  const Parameter& table() const { return *table_; }
  // ids [product of leading] -> [leading..., size]
  Var operator()(Tape& tape, std::span<const Token> ids, Shape leading) const {
    return embedding(tape.parameter(*table_), ids, leading);
  }

 private:
  Parameter* table_;
  Index size_;
};

// The logits of all symbols: y = x W + b, where W^T may be the table of a tied embedding (Press and Wolf
// 2017): [..., in] -> [..., symbols].
class Projection {
 public:
  Projection(
      const Parameters& p, std::string_view name, Index in, Index symbols, const Embedding* tied)
      : how_(tied == nullptr ? Tape::Weight::as_it_is : Tape::Weight::transposed),
        weight_(tied == nullptr ? (p / name).add("W", {in, symbols}, init::glorot())
                                : &tied->table()),
        bias_((p / name).add("b", {symbols}, init::zeros())) {}

  Var operator()(Var x) const { return linear(x, weight(x.tape()), bias(x.tape()), how_); }
  Var weight(Tape& tape) const { return tape.parameter(*weight_); }
  Var bias(Tape& tape) const { return tape.parameter(*bias_); }
  Tape::Weight how() const { return how_; }  // how to multiply with the weight
  Matrix weight() const {                    // [in, symbols]
    const Shape& shape = weight_->shape;
    const Matrix stored{weight_->value().data, shape[0], shape[1]};
    return how_ == Tape::Weight::transposed ? stored.transpose() : stored;
  }
  View bias() const { return bias_->value(); }
  const Parameter& weight_parameter() const { return *weight_; }
  const Parameter& bias_parameter() const { return *bias_; }

 private:
  Tape::Weight how_;
  const Parameter* weight_;
  Parameter* bias_;
};

// Inverted dropout (Srivastava et al. 2014, section 10): while training, a number is set to 0 with
// probability `rate` and otherwise divided by 1 - rate. The identity at rate 0 and on a tape without noise
// (evaluation, search, conformance).

class Dropout {
 public:
  enum class Mask {
    each_step,  // a new mask at every step
    all_steps   // one mask per sentence: variational dropout (Gal and Ghahramani 2016)
  };
  // `name`, appended to the name of p, names the random stream; rate in [0, 1).
  Dropout(const Parameters& p,
          std::string_view name,
          double rate,
          Mask mask = Mask::each_step,
          DropoutUnit unit = DropoutUnit::number)
      : stream_(0, "noise/" + p.name_of(name)), rate_(rate), mask_(mask), unit_(unit) {}

  double rate() const { return rate_; }

  // One step: x [B,...], a row for each sentence.
  Var operator()(Var x, Index step) const {
    return apply(x, {.step = mask_ == Mask::each_step ? step : 0});
  }
  // All steps of a sequence, the same masks as step by step: [B,S,D], [B,H,T,D], ...
  Var sentences_first(Var x, int step_axis = 1) const {
    return apply(x, {.steps = step_axis, .steps_differ = mask_ == Mask::each_step});
  }
  Var steps_first(Var x) const {  // [T,B,D]
    return apply(x, {.sentences = 1, .steps = 0, .steps_differ = mask_ == Mask::each_step});
  }

 private:
  Var apply(Var x, DropoutAxes axes) const {
    if (rate_ == 0 || x.tape().noise() == nullptr) return x;
    return dropout(x, rate_, stream_, axes, unit_);
  }

  RandomStream stream_;
  double rate_;
  Mask mask_;
  DropoutUnit unit_;
};

// Dropout of a cell's state h in products: h times a mask that is the same for all steps of a sentence
// (Gal and Ghahramani 2016). A decoder keeps the mask in its state while there is noise.
class StateDropout {
 public:
  StateDropout(const Parameters& p, double rate)
      : dropout_(p, "recurrent_dropout", rate, Dropout::Mask::all_steps) {}

  bool draws(const Tape& tape) const { return dropout_.rate() > 0 && tape.noise() != nullptr; }
  Var mask(Tape& tape, Index rows, Index units) const {  // [B,U]; empty if nothing is drawn
    if (!draws(tape)) return {};
    View ones = tape.allocate({rows, units});
    std::fill(ones.begin(), ones.end(), real{1});
    return dropout_(tape.constant(ones), 0);
  }

 private:
  Dropout dropout_;
};

// A learned vector for each position of a sentence (Gehring et al. 2016, section 2.2), for encoders
// without other information about positions.

class LearnedPositions {
 public:
  LearnedPositions(const Parameters& p, std::string_view name, Index positions, Index size)
      : table_((p / name).add("P", {positions, size}, init::normal(0.1))) {}

  // Returns x [B,S,D] + P; positions beyond the table share its last row.
  Var operator()(Var x) const { return add_positions(1, x, x.tape().parameter(*table_), 0); }

 private:
  Parameter* table_;
};

}  // namespace softalign
