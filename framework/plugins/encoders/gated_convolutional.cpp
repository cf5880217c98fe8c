// Convolutional encoder (Gehring et al. 2017, sections 3.1, 3.2, 3.4 and 3.5). With e_j = w_j + p_j, the
// embeddings of symbol j and of its position, and z^0 = W_in e + b_in:
//   z^l_j = sqrt(0.5) (v(W^l [z^{l-1}_{j-k/2} ; ... ; z^{l-1}_{j+k/2}] + b^l) + z^{l-1}_j),
//   v([a ; b]) = a sigmoid(b),   annotation j: z_j = W_out z^u_j + b_out, as wide as the embeddings.
// Contexts average z_j + e_j (equation 2). The authors' code scales this sum by sqrt(0.5) and normalises the
// weights of all layers (section 4.2 of the paper, Salimans and Kingma 2016); neither is done here. `last` and
// `start` are the mean of the averaged vectors, which is our choice.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class GatedConvolutional final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    Index layers = 4;
    Index width = 3;
    double dropout = 0;
    Index max_positions = 1024;
    Index attentions = 1;
    template <class V>
    void describe(V& v) {
      v("units", units, "width of the convolutions; paper: 512", between(1, kLargestLayer));
      v("layers",
        layers,
        "number of convolutions; paper: 20 (English to Romanian)",
        between(1, 64));
      v("width", width, "width of a convolution in positions, an odd number", between(1, 31));
      v("dropout",
        dropout,
        "dropout rate of embeddings with positions, and of the input of each convolution",
        fraction());
      v("max_positions",
        max_positions,
        "number of learned positions; later ones share the last",
        between(1, kLongestSentence));
      v("attentions",
        attentions,
        "gradients of the annotations, not of the embeddings that contexts average, are divided by "
        "it; paper, section 3.4: the decoder's number of layers (authors' code: twice that)",
        between(1, 1024));
      v.check(
          "width", width % 2 == 1, "must be odd, for the same number of neighbours on either side");
    }
  };

  GatedConvolutional(const Parameters& p, Index embedding, const Options& options)
      : size_(embedding),
        width_(options.width),
        gradient_scale_(1 / static_cast<real>(options.attentions)),
        positions_(p, "positions", options.max_positions, embedding),
        dropout_(p, "dropout", options.dropout),
        in_(mapping(p, "in", embedding, options.units, options.dropout)),
        out_(mapping(p, "out", options.units, embedding)) {
    for (Index i = 1; i <= options.layers; ++i) {
      const std::string name = fmt::format("layer_{}", i);
      layers_.push_back({Dropout(p / name, "dropout", options.dropout),
                         GatedConvolution(p, name, options.units, width_, options.dropout)});
    }
  }

  Annotations encode(const EncoderInput& source) const override {
    Var e = dropout_.sentences_first(positions_(source.embedded));
    Var z = in_(e);
    for (const auto& [dropout, convolution] : layers_) {
      Var gated = convolution(windows(dropout.sentences_first(z), width_, source.lengths));
      z = kSumScale * (gated + z);
    }
    z = with_gradient_scaled(out_(z));
    Annotations result{z, {}, {}, source.lengths};
    result.values = z + e;
    result.last = result.start = mean_prefix(result.values, source.lengths);
    return result;
  }
  Index size() const override { return size_; }
  Index start_size() const override { return size_; }

 private:
  struct Layer {
    Dropout dropout;
    GatedConvolution convolution;
  };

  Var with_gradient_scaled(Var x) const {
    if (gradient_scale_ == 1) return x;
    Tape& tape = x.tape();
    View same = tape.allocate(x.shape());
    std::copy(x.value().begin(), x.value().end(), same.begin());
    return tape.record(same, {x}, [x, scale = gradient_scale_](View dy) {
      View dx = x.gradient();
      for (Index i = 0; i < dy.size(); ++i) dx.data[i] += scale * dy.data[i];
    });
  }

  Index size_, width_;
  real gradient_scale_;
  LearnedPositions positions_;
  Dropout dropout_;
  Linear in_, out_;
  std::vector<Layer> layers_;
};
SOFTALIGN_ENCODER(
    "gated_convolutional",
    GatedConvolutional,
    "stacked convolutions with gated linear units and positions (Gehring et al. 2017)");

}  // namespace
}  // namespace softalign
