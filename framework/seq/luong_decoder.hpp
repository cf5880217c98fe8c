// The decoder of Luong et al. 2015 (sections 3 to 3.3) over any cell of nn/recurrent.hpp: stacked cells,
// attention after the step, with the new state of the top layer,
//   h_t = cells(h_{t-1}, [E y_{t-1} ; h~_{t-1}]),   h~_t = tanh(W_c [h_t ; c_t]),
// and the projection reads h~_t, the attentional vector (equation 5). With input feeding the next step
// reads it, too; h~_0 is 0. Without a context there is no attentional vector: the projection reads h_t
// (Sutskever et al. 2014). The score `dot` in an attentional decoder is Luong's score in Bahdanau's
// decoder, which attends with the state before the step.
#pragma once

#include <optional>
#include <vector>

#include "framework/nn/recurrent.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/recurrent_state.hpp"

namespace softalign {

template <class Cell>
class LuongDecoder : public Decoder {
 public:
  struct Options {
    Index units = 256;
    Index layers = 1;
    InitialStateOptions initial_state;
    bool input_feeding = true;
    std::string activation = "tanh";
    double dropout = 0;
    double recurrent_dropout = 0;
    CellOptions<Cell> cell;
    template <class V>
    void describe(V& v) {
      v("units",
        units,
        "hidden units of each layer, and of the attentional vector",
        between(1, kLargestLayer));
      v("layers", layers, "stacked cells", between(1, 8));
      initial_state.describe(v);
      v("input_feeding", input_feeding, "the next step reads the attentional vector");
      v("activation",
        activation,
        "activation of the attentional vector; tanh (paper) may saturate in the first updates and "
        "learn nothing (Adam, thousands of words): relu does not",
        one_of("tanh", "relu"));
      v("dropout",
        dropout,
        "dropout rate of the inputs of the second and later layers",
        fraction());
      describe_recurrent_dropout(v, recurrent_dropout);
      cell.describe(v);
      v.check("dropout",
              dropout == 0 || layers > 1,
              "needs at least 2 layers, because it applies between them");
    }
  };

  LuongDecoder(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : units_(options.units),
        relu_(options.activation == "relu"),
        attention_(sizes.attention(p / "attention", options.units)),
        start_(p, options.initial_state, sizes, options.layers, Cell::kStates, options.units) {
    require_source(options.initial_state, attention_->context_size());
    for (Index number = 1; number <= options.layers; ++number) {
      const Parameters own = parameters_of_layer(p, number);
      layers_.push_back({Dropout(own, "dropout", options.dropout),
                         options.cell.make(own, number == 1 ? sizes.embedding : units_, units_),
                         StateDropout(own, options.recurrent_dropout)});
    }
    const Index context = attention_->context_size();
    if (context > 0)
      attentional_.emplace(p, "attentional", units_ + context, units_, Linear::Bias::no);
    else if (options.input_feeding)
      throw SpecError(
          "model.decoder.input_feeding: it feeds the attentional vector, which needs a context, "
          "but this "
          "attention has none; set it to false, or use an attention with a context");
    if (options.input_feeding)
      feeding_.emplace(p,
                       "feeding",
                       units_,
                       Cell::kGates * units_,
                       Linear::Bias::no,
                       init::glorot(Cell::kGates));
  }

  AttentionMemory prepare(const Annotations& annotations) const override {
    return attention_->prepare(annotations);
  }
  State start(const Annotations& annotations, const AttentionMemory& memory) const override {
    State state = start_(annotations);
    Tape& tape = state[0].tape();
    const Index sentences = state[0].shape()[0];
    for (const Layer& layer : layers_)
      if (layer.of_state.draws(tape)) state.push(layer.of_state.mask(tape, sentences, units_));
    if (feeding_) state.push(tape.constant(tape.zeros({sentences, units_})));
    state.append(attention_->start(memory));
    return state;
  }
  Var inputs(Var embedded) const override { return layers_[0].cell.inputs(embedded); }

  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const bool masked = layers_[0].of_state.draws(input.tape());
    const std::size_t masks = layers_.size() * Cell::kStates,
                      vector = masks + (masked ? layers_.size() : 0),
                      past = vector + (feeding_ ? 1 : 0);
    if (feeding_) input = feeding_->add_to(std::move(input), state[vector]);
    State next;
    Var top;
    for (std::size_t number = 0; number < layers_.size(); ++number) {
      const Layer& layer = layers_[number];
      if (number > 0) input = layer.cell.inputs(layer.of_input(top, state.step));
      const auto states = layer.cell.step(std::move(input),
                                          cell_states<Cell>(state, number),
                                          masked ? state[masks + number] : Var());
      push_states<Cell>(next, states);
      top = states[0];
    }
    for (std::size_t k = masks; k < vector; ++k) next.push(state[k]);
    const Glimpse glimpse = attention_->attend(memory, {{top, state.step}, state.from(past)});
    State output{top};
    if (glimpse.context) output.push(glimpse.context);
    if (feeding_) {
      output = {attentional_vector(side_by_side(output))};
      next.push(output[0]);
    }
    next.append(glimpse.next);
    return {next, output, glimpse.weights};
  }
  // Without input feeding, one product computes the attentional vectors of all steps.
  Var readout(Var outputs, Var) const override {
    return feeding_ || !attentional_ ? outputs : attentional_vector(outputs);
  }
  Index readout_size() const override { return units_; }
  Index output_size() const override {
    return feeding_ ? units_ : units_ + attention_->context_size();
  }
  bool aligns() const override { return attention_->aligns(); }
  bool reads_links() const override { return attention_->reads_links(); }

 private:
  struct Layer {
    Dropout of_input;  // not used in the first layer, whose input dropout is the model's
    Cell cell;
    StateDropout of_state;
  };

  Var attentional_vector(Var state_and_context) const {
    Var sum = (*attentional_)(state_and_context);
    return relu_ ? relu(sum) : tanh(sum);
  }

  Index units_;
  bool relu_;
  std::unique_ptr<Attention> attention_;
  InitialState start_;
  std::vector<Layer> layers_;
  std::optional<Linear> attentional_;
  std::optional<Linear> feeding_;
};

}  // namespace softalign
