// Image grid (Xu et al. 2015, section 3.1.1: the annotation vectors are the positions of a convolutional
// feature map). The paper uses VGG; here the network is small and trained with the rest of the model: for
// each of `channels`, 3 x 3 convolutions with ReLU, then 2 x 2 max pooling. With n poolings an annotation
// belongs to a cell of 2^n x 2^n pixels; cells are in column order, like the source's pixels. The embeddings
// of its row and its column are added to each cell. `last` and `start` are the mean of the annotations, as in
// Xu et al. (section 3.1.2).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class ImageGrid final : public Encoder {
 public:
  struct Options {
    Index height = 8;
    Index levels = 17;
    std::vector<Index> channels = {16, 32};
    Index convolutions = 1;
    bool positions = true;
    Index columns = 64;
    template <class V>
    void describe(V& v) {
      v("height", height, "pixels in a column of an image, as in the task", between(1, 1000));
      v("levels", levels, "grey levels of a pixel, from 0", between(2, 65536));
      v("channels",
        channels,
        "channels of the convolutions before each pooling; the last is the width of the "
        "annotations",
        between(1, kLargestLayer));
      v("convolutions", convolutions, "before each pooling", between(1, 16));
      v("positions", positions, "adds embeddings of row and column");
      v("columns",
        columns,
        "cells of a row with an embedding of their own; later ones share the last",
        between(1, kLargestLayer));
      v.inactive("columns", !positions, "positions is false");
      v.check("channels",
              !channels.empty() && channels.size() <= 8,
              fmt::format("{} poolings; give channels for 1 to 8", channels.size()));
    }
  };

  ImageGrid(const Parameters& p, Index, const Options& options) : options_(options) {
    Index in = 1;
    for (const Index out : options.channels)
      for (Index k = 0; k < options.convolutions; ++k) {
        const Parameters layer = p / fmt::format("convolution{}", layers_.size() + 1);
        layers_.push_back({layer.add("W", {3, 3, in, out}, init::glorot()),
                           layer.add("b", {out}, init::zeros())});
        in = out;
      }
    if (!options.positions) return;
    row_ = std::make_unique<Embedding>(p, "row", cells(options.height), size());
    column_ = std::make_unique<Embedding>(p, "column", options.columns, size());
  }

  Annotations encode(const EncoderInput& source) const override {
    Tape& tape = *source.tape;
    std::span<Index> widths = widths_of(tape, source.lengths);
    Var map = pixels_of(tape, source, widths);
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      const Layer& layer = layers_[k];
      map = relu(conv2d(map, tape.parameter(*layer.w), tape.parameter(*layer.b), widths));
      if ((k + 1) % usize(options_.convolutions) != 0) continue;
      map = max_pool2d(map, widths);
      const std::span<Index> halved = array(tape, widths.size());
      for (std::size_t b = 0; b < widths.size(); ++b) halved[b] = (widths[b] + 1) / 2;
      widths = halved;
    }
    const Index rows = map.shape()[2];
    Var states = reshape(map, {map.shape()[0], map.shape()[1] * rows, size()});
    if (options_.positions) states = states + places(tape, map.shape());
    const std::span<Index> lengths = array(tape, widths.size());
    for (std::size_t b = 0; b < widths.size(); ++b) lengths[b] = widths[b] * rows;
    Var mean = mean_of(states, lengths);
    return {states, mean, mean, lengths};
  }
  Index size() const override { return options_.channels.back(); }
  Index start_size() const override { return size(); }
  Reads reads() const override { return Reads::frames; }
  FrameFormat frames() const override {
    return {1, options_.height, static_cast<float>(options_.levels - 1)};
  }
  Index positions(Index pixels) const override {
    return cells(pixels / options_.height) * cells(options_.height);
  }
  Index position_of(Index pixel) const override {
    const Index column = pixel / options_.height, row = pixel % options_.height;
    return (column >> poolings()) * cells(options_.height) + (row >> poolings());
  }

 private:
  struct Layer {
    Parameter* w;  // [3,3,C,K]
    Parameter* b;  // [K]
  };

  // Returns the number of cells along a side of `pixels` pixels.
  Index cells(Index pixels) const {
    const Index side = Index{1} << poolings();
    return (pixels + side - 1) / side;
  }
  std::size_t poolings() const { return options_.channels.size(); }

  static std::span<Index> array(Tape& tape, std::size_t size) {
    return {tape.arena().array_of<Index>(static_cast<Index>(size)), size};
  }

  std::span<Index> widths_of(Tape& tape, std::span<const Index> lengths) const {
    const std::span<Index> widths = array(tape, lengths.size());
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const Index pixels = lengths[b];
      widths[b] = pixels / options_.height;
      if (pixels == 0 || pixels % options_.height != 0)
        throw DataError("[image_grid] a source of {} pixels is not an image: its columns have {}",
                        pixels,
                        options_.height);
    }
    return widths;
  }

  // [B,W,H,1], from 0 to 1; 0 after an image's own columns.
  Var pixels_of(Tape& tape, const EncoderInput& source, std::span<const Index> widths) const {
    const auto rows = static_cast<Index>(widths.size());
    const Index height = options_.height, steps = std::ssize(source.frames) / rows;
    View pixels = tape.zeros({rows, steps / height, height, 1});
    const real white = static_cast<real>(1) / static_cast<real>(options_.levels - 1);
    for (Index b = 0; b < rows; ++b) {
      const float* from = source.frames.data() + b * steps;
      real* to = pixels.data + b * pixels.size() / rows;
      for (Index i = 0; i < widths[usize(b)] * height; ++i)
        to[i] = white * static_cast<real>(level_of(from[i]));
    }
    return tape.constant(pixels);
  }

  float level_of(float pixel) const {
    if (!(pixel >= 0 && pixel <= static_cast<float>(options_.levels - 1)))
      throw DataError(
          "[image_grid] a pixel is outside the grey levels 0 to {}; scale the image to these",
          options_.levels - 1);
    return pixel;
  }

  // [B,S,D]: the sum of the embeddings of each cell's row and column, for cells in the order [W,H].
  Var places(Tape& tape, const Shape& shape) const {
    const Index sentences = shape[0], count = shape[1] * shape[2];
    Token* rows = tape.arena().array_of<Token>(sentences * count);
    Token* columns = tape.arena().array_of<Token>(sentences * count);
    for (Index i = 0; i < sentences * count; ++i) {
      rows[i] = static_cast<Token>(i % shape[2]);
      columns[i] = static_cast<Token>(std::min(i % count / shape[2], options_.columns - 1));
    }
    const auto all = usize(sentences * count);
    return (*row_)(tape, {rows, all}, {sentences, count}) +
           (*column_)(tape, {columns, all}, {sentences, count});
  }

  static Var mean_of(Var states, std::span<const Index> lengths) {
    View share = states.tape().zeros({states.shape()[0], states.shape()[1]});
    for (std::size_t b = 0; b < lengths.size(); ++b)
      std::fill_n(share.data + static_cast<Index>(b) * states.shape()[1],
                  lengths[b],
                  real{1} / static_cast<real>(lengths[b]));
    return weighted_sum(states.tape().constant(share), states, lengths);
  }

  Options options_;
  std::vector<Layer> layers_;
  std::unique_ptr<Embedding> row_;  // null: no positions
  std::unique_ptr<Embedding> column_;
};
SOFTALIGN_ENCODER("image_grid",
                  ImageGrid,
                  "small CNN over an image, an annotation for each cell (Xu et al. 2015)");

}  // namespace
}  // namespace softalign
