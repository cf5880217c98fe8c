// The states of recurrent cells (nn/recurrent.hpp) among the arrays of a decoder's state, their initial values,
// and options of all recurrent encoders and decoders.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"
#include "framework/nn/recurrent.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/encoder.hpp"

namespace softalign {

// Returns the cell states of a layer, counted from 0, of a state that begins with those of all layers.
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
    "dropout rate of the state before each step, with one mask per sentence (Gal and Ghahramani "
    "2016)",
    fraction());
}

// bias: a number, or an optional number, whose default is 1.
template <class V, class Number>
void describe_forget_bias(V& v, Number& bias) {
  v("forget_bias",
    bias,
    "initial bias of the forget gates; 1 (default): a new LSTM remembers (Jozefowicz et al. 2015); "
    "0: none, as in older papers",
    between(-10, 10));
}

// A decoder's options for its cell; make() builds the cell.
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

// The initial state of a recurrent decoder. Each array of the state (for an LSTM, both h and c) has its
// own projection, as in Xu et al. 2015 (section 3.1.2) and in Nematus:
//   zero  0                             last  the encoder's final states, layer by layer (Sutskever et
//   tanh  tanh(W start + b), Bahdanau         al. 2014; Luong et al. 2015)
//         et al. 2015, appendix A.2.2   mean  tanh(W mean of the annotations + b), Xu et al. 2015
// Written next to the decoder's own options.
struct InitialStateOptions {
  std::string initial_state = "tanh";
  template <class V>
  void describe(V& v) {
    v("initial_state",
      initial_state,
      "first state: tanh(W start), tanh(W mean of the annotations), the encoder's last states "
      "layer by layer, or zero",
      one_of("tanh", "mean", "last", "zero"));
  }
};

// Returns the parameters of a layer, counted from 1; the first layer has the decoder's own prefix.
inline Parameters parameters_of_layer(const Parameters& p, Index layer) {
  return layer == 1 ? p : p / fmt::format("layer_{}", layer);
}

// Throws SpecError if the decoder would not see the source: no context, and an initial state of 0.
void require_source(const InitialStateOptions& options, Index context_size);

class InitialState {
 public:
  // Each layer has `arrays` arrays [B,U]. Throws SpecError if the encoder's last states do not fit.
  InitialState(const Parameters& p,
               const InitialStateOptions& options,
               const DecoderSizes& sizes,
               Index layers,
               std::size_t arrays,
               Index units);

  State operator()(const Annotations& annotations) const;  // layer by layer

 private:
  void check_finals(const std::vector<Index>& finals, Index layers) const;

  bool last_;
  bool mean_;
  std::size_t arrays_;  // of all layers together
  Index units_;
  std::vector<Linear> projections_;  // empty: zero or last
};

}  // namespace softalign
