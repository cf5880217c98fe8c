#include "framework/seq/recurrent_state.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include "framework/base/types.hpp"

namespace softalign {

void require_source(const InitialStateOptions& options, Index context_size) {
  if (context_size == 0 && options.initial_state == "zero")
    throw SpecError(
        "model.decoder.initial_state: zero, but its attention has no context: the decoder would "
        "see "
        "nothing of the source; change one of them");
}

InitialState::InitialState(const Parameters& p,
                           const InitialStateOptions& options,
                           const DecoderSizes& sizes,
                           Index layers,
                           std::size_t arrays,
                           Index units)
    : last_(options.initial_state == "last"),
      mean_(options.initial_state == "mean"),
      arrays_(usize(layers) * arrays),
      units_(units) {
  if (last_) check_finals(sizes.finals, layers);
  if (last_ || options.initial_state == "zero") return;
  for (Index layer = 1; layer <= layers; ++layer)
    for (std::size_t k = 0; k < arrays; ++k)
      projections_.emplace_back(parameters_of_layer(p, layer),
                                k == 0 ? "start" : "start_cell",
                                mean_ ? sizes.annotation : sizes.start,
                                units);
}

void InitialState::check_finals(const std::vector<Index>& finals, Index layers) const {
  if (finals == std::vector<Index>(arrays_, units_)) return;
  if (finals.empty())
    throw SpecError(
        "model.decoder.initial_state: last needs an encoder with last states, but this one has "
        "none; use "
        "a recurrent encoder, or initial_state mean, tanh or zero");
  throw SpecError(
      "model.decoder.initial_state: last copies the encoder's last states layer by layer; the "
      "encoder "
      "has {} of sizes {}, the decoder's {} layer(s) need {} of size {}; make cell, layers and "
      "units agree (an encoder of both directions has twice its units; an LSTM has h and c), or "
      "use "
      "initial_state mean, tanh or zero",
      finals.size(),
      fmt::join(finals, ", "),
      layers,
      arrays_,
      units_);
}

State InitialState::operator()(const Annotations& annotations) const {
  if (last_) return annotations.finals.from(0);
  State state;
  if (projections_.empty()) {
    Tape& tape = annotations.states.tape();
    const Index sentences = annotations.states.shape()[0];
    for (std::size_t k = 0; k < arrays_; ++k)
      state.push(tape.constant(tape.zeros({sentences, units_})));
    return state;
  }
  Var from = mean_ ? mean_prefix(annotations.averaged(), annotations.lengths) : annotations.start;
  for (const Linear& projection : projections_) state.push(tanh(projection(from)));
  return state;
}

}  // namespace softalign
