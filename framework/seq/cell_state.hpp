// The states of recurrent cells (nn/recurrent.hpp) among the arrays of a decoder's state, and an option
// that all that is recurrent has.
#pragma once

#include <algorithm>

#include "framework/config/options.hpp"
#include "framework/nn/dropout.hpp"
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

}  // namespace softalign
