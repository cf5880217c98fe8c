// Pyramidal LSTM (Chan et al. 2016, "Listen, attend and spell", arXiv 1508.01211, section 3.1, equations 4 and 5):
// a bidirectional LSTM, and above it layers that each read pairs of neighbouring outputs of the layer below,
//   h_i^j = pBLSTM(h_{i-1}^j, [h_{2i}^{j-1} ; h_{2i+1}^{j-1}]),
// so that each has half as many positions. The paper has three of these above the first layer, with 256 units in
// each direction: 8 frames per annotation. If a layer has an odd number of outputs, its last pair is padded with
// zeros; the paper does not define this case.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class PyramidalLstm final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    Index layers = 4;
    Index reduction = 2;
    double dropout = 0;
    double recurrent_dropout = 0;
    double forget_bias = Lstm::kForgetBias;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units of each direction", between(1, kLargestLayer));
      v("layers",
        layers,
        "number of layers with the first, which reads every position; the paper has 4",
        between(2, RecurrentOptions::kMostLayers));
      v("reduction",
        reduction,
        "outputs of the layer below that a position of the next layer reads; the paper has 2",
        between(2, 16));
      v("dropout",
        dropout,
        "dropout rate of the inputs of the second and later layers",
        fraction());
      describe_recurrent_dropout(v, recurrent_dropout);
      describe_forget_bias(v, forget_bias);
    }
  };

  PyramidalLstm(const Parameters& p, Index embedding, const Options& options)
      : reduction_(options.reduction) {
    RecurrentOptions layer;
    layer.units = options.units;
    layer.recurrent_dropout = options.recurrent_dropout;
    Index in = embedding;
    for (Index number = 1; number <= options.layers; ++number) {
      const Parameters q = parameters_of_layer(p, number);
      layers_.emplace_back(q, in, layer, [&](const Parameters& r, Index width) {
        return Lstm(r, width, options.units, options.forget_bias);
      });
      dropouts_.emplace_back(q, "dropout", options.dropout);
      in = reduction_ * layers_.back().size();
    }
  }

  Annotations encode(const EncoderInput& source) const override {
    Annotations result =
        layers_[0].encode({.embedded = source.embedded, .lengths = source.lengths});
    State finals = result.finals;
    for (std::size_t number = 1; number < layers_.size(); ++number) {
      Var below = dropouts_[number].sentences_first(neighbours(result.states, result.lengths));
      result =
          layers_[number].encode({.embedded = below, .lengths = reduced(below, result.lengths)});
      finals.append(result.finals);
    }
    result.finals = finals;
    return result;
  }
  Index size() const override { return layers_[0].size(); }
  Index start_size() const override { return layers_[0].start_size(); }
  std::vector<Index> final_sizes() const override {
    std::vector<Index> sizes;
    for (const auto& layer : layers_)
      for (const Index size : layer.final_sizes()) sizes.push_back(size);
    return sizes;
  }
  Index positions(Index length) const override { return reduced(length, side()); }
  Index position_of(Index index) const override { return index / side(); }

 private:
  static Index reduced(Index length, Index by) { return (length + by - 1) / by; }
  std::span<const Index> reduced(Var below, std::span<const Index> lengths) const {
    Index* fewer = below.tape().arena().array_of<Index>(std::ssize(lengths));
    std::ranges::transform(
        lengths, fewer, [this](Index length) { return reduced(length, reduction_); });
    return {fewer, lengths.size()};
  }

  // Returns the number of source positions per annotation.
  Index side() const {
    Index side = 1;
    for (std::size_t number = 1; number < layers_.size(); ++number) side *= reduction_;
    return side;
  }

  // [B,S,D] -> [B, ceil(S / n), n D]: n neighbours side by side, zeros beyond a sentence.
  Var neighbours(Var x, std::span<const Index> lengths) const {
    const Index rows = x.shape()[0], steps = x.shape()[1], size = x.shape()[2];
    const Index fewer = reduced(steps, reduction_), wide = reduction_ * size;
    View y = x.tape().zeros({rows, fewer, wide});
    // Calls f(offset in x, offset in y, count) for each sentence, whose numbers stay in order.
    const auto for_each = [=, lengths = lengths.data()](auto f) {
      for (Index b = 0; b < rows; ++b) f(b * steps * size, b * fewer * wide, lengths[b] * size);
    };
    for_each([&](Index from, Index to, Index count) {
      std::copy_n(x.value().data + from, count, y.data + to);
    });
    return x.tape().record(y, {x}, [=](View dy) {
      View dx = x.gradient();
      for_each([&](Index to, Index from, Index count) {
        for (Index i = 0; i < count; ++i) dx.data[to + i] += dy.data[from + i];
      });
    });
  }

  Index reduction_;
  std::vector<RecurrentEncoder<Lstm>> layers_;
  std::vector<Dropout> dropouts_;  // of each layer's inputs; the first is not used
};
SOFTALIGN_ENCODER("pyramidal_lstm",
                  PyramidalLstm,
                  "bidirectional LSTMs, each with half as many positions (Chan et al. 2016)");

}  // namespace
}  // namespace softalign
