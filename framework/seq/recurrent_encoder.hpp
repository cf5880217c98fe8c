// A stack of recurrent layers as an encoder, over any cell of nn/recurrent.hpp. With two directions
// a layer concatenates the states of both, h_j = [forward h_j ; backward h_j] (Bahdanau et al. 2015,
// section 3.2), and the next layer reads h_j.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"
#include "framework/nn/recurrent.hpp"
#include "framework/seq/encoder.hpp"
#include "framework/seq/recurrent_state.hpp"

namespace softalign {

struct RecurrentOptions {
  Index units = 256;
  Index layers = 1;
  std::string direction = "both";
  bool residual = false;
  double dropout = 0;
  double recurrent_dropout = 0;
  std::optional<Index> project = {};
  template <class V>
  void describe(V& v) {
    v("units", units, "hidden units of each direction", between(1, kLargestLayer));
    v("layers", layers, "number of stacked layers", between(1, kMostLayers));
    v("direction",
      direction,
      "forward; backward: from the last symbol to the first, like a reversed source (Sutskever et "
      "al. 2014); both: one layer per direction, states concatenated",
      one_of("forward", "backward", "both"));
    v("residual",
      residual,
      "from the second layer on, the input of a layer is added to its states");
    v("dropout", dropout, "dropout rate of the inputs of the second and later layers", fraction());
    describe_recurrent_dropout(v, recurrent_dropout);
    v("project",
      project,
      "width of the annotations W h, with one W for all positions, which scores, contexts and the "
      "sentence vector use; null: h itself",
      between(1, kLargestLayer));
    v.check("residual", !residual || layers > 1, "needs at least 2 layers");
    v.check("dropout",
            dropout == 0 || layers > 1,
            "needs at least 2 layers, because it applies between them");
  }

  static constexpr Index kMostLayers = 12;
};

// Annotations: the concatenated states of the last layer, or W times these (project). finals are the final states
// of the cells, without residual connections; last is the last layer's final h, projected like the annotations.
template <class Cell>
class RecurrentEncoder : public Encoder {
 public:
  using Options = RecurrentOptions;
  using MakeCell = std::function<Cell(const Parameters&, Index in)>;

  RecurrentEncoder(const Parameters& p, Index embedding, const Options& options)
      : RecurrentEncoder(p, embedding, options, [&](const Parameters& q, Index in) {
          return Cell(q, in, options.units);
        }) {}
  RecurrentEncoder(const Parameters& p,
                   Index embedding,
                   const Options& options,
                   const MakeCell& make)
      : units_(options.units), residual_(options.residual), project_size_(options.project) {
    Index in = embedding;
    for (Index number = 1; number <= options.layers; ++number) {
      const Parameters q = number == 1 ? p : p / fmt::format("layer_{}", number);
      Layer& layer = layers_.emplace_back(Dropout(q, "dropout", options.dropout));
      if (options.direction != "backward") layer.forward.emplace(q / "forward", in, options, make);
      if (options.direction != "forward") layer.backward.emplace(q / "backward", in, options, make);
      in = joined_size();
    }
    if (project_size_)
      project_.emplace(p, "project", joined_size(), *project_size_, Linear::Bias::no);
  }

  Annotations encode(const EncoderInput& source) const override {
    Annotations result{source.embedded, {}, {}, source.lengths};
    for (std::size_t number = 0; number < layers_.size(); ++number) {
      const Layer& layer = layers_[number];
      Var below = result.states;
      if (number > 0) below = layer.dropout.sentences_first(below);
      const Passed passed = layer.pass(below, source.lengths);
      result.last = passed.finals[0];
      result.start = passed.start;
      result.finals.append(passed.finals);
      result.states = number > 0 && residual_ ? passed.states + below : passed.states;
      result.parts = passed.parts;
    }
    if (project_) {
      result.states = (*project_)(result.states);
      result.last = (*project_)(result.last);
    }
    return result;
  }
  Index size() const override { return project_size_.value_or(joined_size()); }
  Index start_size() const override { return units_; }
  std::vector<Index> final_sizes() const override {
    return std::vector<Index>(layers_.size() * Cell::kStates, joined_size());
  }

 private:
  struct Passed {  // the outputs of a layer
    Var states;    // [B,S,D]
    Var start;     // [B,U]: the backward state at position 1, or else the last forward state
    State finals;  // kStates times [B,D]
    State parts;   // [B,S,U] of each direction
  };

  struct Direction {
    Direction(const Parameters& p, Index in, const Options& options, const MakeCell& make)
        : cell(make(p, in)), of_state(p, options.recurrent_dropout) {}

    typename Cell::States pass(Var below, std::span<const Index> lengths, bool backwards) const {
      Var mask = of_state.mask(below.tape(), below.shape()[0], cell.units());
      return cell.sequence(cell.inputs(below), lengths, backwards, mask);
    }

    Cell cell;
    StateDropout of_state;
  };

  struct Layer {
    explicit Layer(const Dropout& of_input) : dropout(of_input) {}

    Passed pass(Var below, std::span<const Index> lengths) const {
      typename Cell::States ahead{}, back{};
      if (forward) ahead = forward->pass(below, lengths, false);
      if (backward) back = backward->pass(below, lengths, true);
      Passed passed;
      for (std::size_t k = 0; k < Cell::kStates; ++k) {
        Var first = back[k] ? select_step(back[k], 0) : Var();
        Var last = ahead[k] ? select_last_valid(ahead[k], lengths) : Var();
        passed.finals.push(joined(last, first));
        if (k == 0) passed.start = first ? first : last;
      }
      passed.states = joined(ahead[0], back[0]);
      for (Var states : {ahead[0], back[0]})
        if (states) passed.parts.push(states);
      return passed;
    }
    static Var joined(Var a, Var b) { return a && b ? concat_last(a, b) : a ? a : b; }

    Dropout dropout;
    std::optional<Direction> forward, backward;
  };

  Index joined_size() const {
    return layers_[0].forward && layers_[0].backward ? 2 * units_ : units_;
  }

  Index units_;
  bool residual_;
  std::vector<Layer> layers_;
  std::optional<Index> project_size_;
  std::optional<Linear> project_;
};

}  // namespace softalign
