// Convolutional encoder (Gehring et al. 2016, section 3): two stacks of convolutions over embeddings
// with learned positions. Scores read the states of one stack (CNN-a), contexts average those of the
// other (CNN-c). Every layer is y = tanh(convolution(x) + x): no connection bypasses the non-linearity.
// `last` and `start` are the mean of the averaged vectors, which is our choice.
#include <optional>
#include <vector>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Convolutional final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    Index layers = 6;
    Index value_layers = 3;
    Index width = 3;
    Index max_positions = 512;
    template <class V>
    void describe(V& v) {
      v("units",
        units,
        "width of all layers; embeddings of another width are projected",
        between(1, kLargestLayer));
      v("layers", layers, "number of convolutions for the keys, CNN-a", between(1, kMostLayers));
      v("value_layers",
        value_layers,
        "number of convolutions for the values, CNN-c; 0: one stack for both, CNN-a",
        between(0, kMostLayers));
      v("width", width, "width of a convolution in positions, an odd number", between(1, 31));
      v("max_positions",
        max_positions,
        "number of learned positions; later ones share the last",
        between(1, kLongestSentence));
      v.check(
          "width", width % 2 == 1, "must be odd, for the same number of neighbours on either side");
    }
    static constexpr Index kMostLayers = 32;
  };

  Convolutional(const Parameters& p, Index embedding, const Options& options)
      : units_(options.units),
        width_(options.width),
        positions_(p, "positions", options.max_positions, embedding) {
    if (embedding != units_) project_.emplace(p, "project", embedding, units_);
    stack(p / "keys", options.layers, keys_);
    stack(p / "values", options.value_layers, values_);
  }

  Annotations encode(const EncoderInput& source) const override {
    Var x = positions_(source.embedded);
    if (project_) x = (*project_)(x);
    Annotations result{pass(keys_, x, source.lengths), {}, {}, source.lengths};
    if (!values_.empty()) result.values = pass(values_, x, source.lengths);
    result.last = result.start = mean_prefix(result.averaged(), source.lengths);
    return result;
  }
  Index size() const override { return units_; }
  Index start_size() const override { return units_; }

 private:
  void stack(const Parameters& p, Index layers, std::vector<Linear>& into) const {
    for (Index number = 1; number <= layers; ++number)
      into.emplace_back(p, fmt::format("layer_{}", number), width_ * units_, units_);
  }
  Var pass(const std::vector<Linear>& layers, Var x, std::span<const Index> lengths) const {
    for (const Linear& layer : layers) x = tanh(add(layer(windows(x, width_, lengths)), x));
    return x;
  }

  Index units_, width_;
  LearnedPositions positions_;
  std::optional<Linear> project_;
  std::vector<Linear> keys_, values_;
};
SOFTALIGN_ENCODER("convolutional",
                  Convolutional,
                  "stacked convolutions with positions, for keys and values apart (Gehring 2016)");

}  // namespace
}  // namespace softalign
