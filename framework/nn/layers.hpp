// Things that own weights. A layer declares its parameters when it is built and is a pure function
// afterwards.
#pragma once

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
  Var add_to(Var&& base, Var x) const {  // base + x W in base's memory, for one without a bias
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
  // tied: others read the table too (Projection), so that every row has a gradient.
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

// The logits of all symbols: y = x W + b, or with the table of a tied embedding for W^T (Press and Wolf
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
  Tape::Weight how() const { return how_; }  // to multiply with the weight
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

}  // namespace softalign
