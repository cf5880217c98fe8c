// The states of recurrent cells (nn/recurrent.hpp) among the arrays of a decoder's state, and the masks
// of their variational dropout, which are drawn once for a sentence.
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

// What a cell's products see of its state h: h times a mask, one for all steps of a sentence (Gal and
// Ghahramani 2016). A decoder keeps the mask in its state while there is noise.
class StateDropout {
 public:
  StateDropout(const Parameters& p, double rate)
      : dropout_(p, "recurrent_dropout", rate, Dropout::Mask::all_steps) {}

  bool draws(const Tape& tape) const { return dropout_.rate() > 0 && tape.noise() != nullptr; }
  Var mask(Tape& tape, Index rows, Index units) const {  // [B,U], where it draws
    View ones = tape.allocate({rows, units});
    std::fill(ones.begin(), ones.end(), real{1});
    return dropout_(tape.constant(ones), 0);
  }

 private:
  Dropout dropout_;
};

}  // namespace softalign
