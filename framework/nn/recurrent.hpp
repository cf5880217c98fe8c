// Recurrent cells with their weights: Rnn, Gru, Lstm, all with one interface, so that encoders and
// decoders are templates over them. inputs() projects the input first, for all positions at once:
//
//   Cell::States s = cell.step(cell.inputs(x), previous);   // s[0] is h, the output
//   Var h = cell.sequence(cell.inputs(x), lengths, false)[0];
//
// mask: the dropout mask of h (ops/ops.hpp). The projected input is overwritten.
#pragma once

#include <array>
#include <span>

#include "framework/nn/layers.hpp"

namespace softalign {

// tanh RNN (Elman 1990). State: h.
class Rnn {
 public:
  static constexpr Index kGates = 1;  // projected inputs are [..., kGates U]
  static constexpr std::size_t kStates = 1;
  using States = std::array<Var, kStates>;  // each [B,U], of a sequence [B,S,U]

  Rnn(const Parameters& p, Index in, Index units)
      : units_(units),
        input_(p, "input", in, units),
        weight_(p.add("U", {units, units}, init::orthogonal())) {}

  Index units() const { return units_; }
  Var inputs(Var x) const { return input_(x); }  // [..., in] -> [..., U]
  States sequence(Var&& inputs,
                  std::span<const Index> lengths,
                  bool backwards,
                  Var mask = {}) const {
    Var u = inputs.tape().parameter(*weight_);
    return {rnn_sequence(std::move(inputs), u, lengths, backwards, mask)};
  }
  States step(Var&& input, const States& previous, Var mask = {}) const {
    Var u = input.tape().parameter(*weight_);
    return {rnn_step(std::move(input), previous[0], u, mask)};
  }

 private:
  Index units_;
  Linear input_;
  Parameter* weight_;
};

// GRU (Cho et al. 2014). State: h.
class Gru {
 public:
  static constexpr Index kGates = 3;
  static constexpr std::size_t kStates = 1;
  using States = std::array<Var, kStates>;

  Gru(const Parameters& p, Index in, Index units)
      : units_(units),
        input_(p, "input", in, 3 * units, Linear::Bias::yes, init::glorot(3)),
        gates_(p.add("U", {units, 2 * units}, init::orthogonal(2))),
        candidate_(p.add("U_candidate", {units, units}, init::orthogonal())) {}

  Index units() const { return units_; }
  Var inputs(Var x) const { return input_(x); }  // [..., in] -> [..., 3U]
  States sequence(Var&& inputs,
                  std::span<const Index> lengths,
                  bool backwards,
                  Var mask = {}) const {
    Tape& tape = inputs.tape();
    Var u = tape.parameter(*gates_), uc = tape.parameter(*candidate_);
    return {gru_sequence(std::move(inputs), u, uc, lengths, backwards, mask)};
  }
  States step(Var&& input, const States& previous, Var mask = {}) const {
    Tape& tape = input.tape();
    Var u = tape.parameter(*gates_), uc = tape.parameter(*candidate_);
    return {gru_step(std::move(input), previous[0], u, uc, mask)};
  }

 private:
  Index units_;
  Linear input_;
  Parameter* gates_;
  Parameter* candidate_;
};

// LSTM with forget gate (Hochreiter and Schmidhuber 1997; Gers et al. 2000). State: h, c. The forget
// gate's initial bias is forget_bias, by default 1, so that a new LSTM remembers (Jozefowicz et al. 2015).
class Lstm {
 public:
  static constexpr Index kGates = 4;
  static constexpr double kForgetBias = 1;
  static constexpr std::size_t kStates = 2;
  using States = LstmState;

  Lstm(const Parameters& p, Index in, Index units, double forget_bias = kForgetBias)
      : units_(units),
        input_(p,
               "input",
               in,
               4 * units,
               Linear::Bias::yes,
               init::glorot(4),
               init::blocks({0, forget_bias, 0, 0})),
        gates_(p.add("U", {units, 4 * units}, init::orthogonal(4))) {}

  Index units() const { return units_; }
  Var inputs(Var x) const { return input_(x); }  // [..., in] -> [..., 4U]
  States sequence(Var&& inputs,
                  std::span<const Index> lengths,
                  bool backwards,
                  Var mask = {}) const {
    Var u = recurrent(inputs.tape());
    return lstm_sequence(std::move(inputs), u, lengths, backwards, mask);
  }
  States step(Var&& input, const States& previous, Var mask = {}) const {
    Var u = recurrent(input.tape());
    return lstm_step(std::move(input), previous, u, mask);
  }
  Var recurrent(Tape& tape) const { return tape.parameter(*gates_); }  // [U,4U]

 private:
  Index units_;
  Linear input_;
  Parameter* gates_;
};

}  // namespace softalign
