// The states of recurrent cells (nn/recurrent.hpp) among the arrays of a decoder's state, and options
// that all that is recurrent has.
#pragma once

#include <algorithm>
#include <optional>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"
#include "framework/nn/recurrent.hpp"
#include "framework/seq/state.hpp"

namespace softalign {

// Those of the cell of this layer, from 0, when the layers come first.
template <class Cell>
typename Cell::States cell_states(const State& state, std::size_t layer = 0) {
  typename Cell::States states;
  std::copy_n(state.begin() + layer * Cell::kStates, Cell::kStates, states.begin());
  return states;
}

template <class Cell>
void push_states(State& state, const typename Cell::States& states) {
  for (Var one : states) state.push(one);
}

template <class V>
void describe_recurrent_dropout(V& v, double& rate) {
  v("recurrent_dropout",
    rate,
    "of the state before each step, with one mask for a sentence (Gal and Ghahramani 2016)",
    fraction());
}

// Of a number, or of an optional one, which is 1 where it is absent.
template <class V, class Number>
void describe_forget_bias(V& v, Number& bias) {
  v("forget_bias",
    bias,
    "first value of the forget gates' bias; 1, the default: a new LSTM remembers (Jozefowicz "
    "et al. 2015); 0: none, as in older papers",
    between(-10, 10));
}

// What a decoder can be asked for about its cell, and the cell.
template <class Cell>
struct CellOptions {
  template <class V>
  void describe(V&) {}
  Cell make(const Parameters& p, Index in, Index units) const { return Cell(p, in, units); }
};
template <>
struct CellOptions<Lstm> {
  std::optional<double> forget_bias;
  template <class V>
  void describe(V& v) {
    describe_forget_bias(v, forget_bias);
  }
  Lstm make(const Parameters& p, Index in, Index units) const {
    return Lstm(p, in, units, forget_bias.value_or(Lstm::kForgetBias));
  }
};

}  // namespace softalign
