// Transformer encoder (Vaswani et al. 2017, section 3.1): layers of self-attention and a feed-forward network,
// each with a residual connection. Positions are added to the embeddings (section 3.5), or enter self-attention.
// Relative positions: e_ij = x_i W^Q (x_j W^K + a^K_ij)^T / sqrt(d_head) and, with relative_values,
// z_i = sum_j p_ij (x_j W^V + a^V_ij), with learned a_ij = w_clip(j - i, k) in each layer (Shaw et al. 2018,
// equations 3 and 4). Rotary positions: pair m of a head's query and key at position i is rotated by the angle
// i 10000^(-2m / d_head), m from 0 (Su et al. 2021, equations 15 and 34). The encoder has no final state: `last`
// and `start` are the annotation of </s>, which attends to the whole sentence.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class EncoderLayer {
 public:
  EncoderLayer(const Parameters& p, const TransformerOptions& options)
      : attention_(p, "attention", options, SelfAttention::Sees::all),
        after_attention_(p, "attention", options),
        feed_forward_(p, "feed_forward", options),
        after_feed_forward_(p, "feed_forward", options) {}

  // index: of this layer, from 0.
  Var operator()(Var x, const EncoderInput& source, const Positions& positions, Index index) const {
    x = after_attention_(x, {}, [&](Var y) {
      const MultiHead out =
          attention_.within(y, source.lengths, positions, source.heads != nullptr);
      if (out.each) source.heads->add(index, 0, out.each.value());
      return out.context;
    });
    return after_feed_forward_(x, {}, [&](Var y) { return feed_forward_(y, 0); });
  }

 private:
  SelfAttention attention_;
  Residual after_attention_;
  FeedForward feed_forward_;
  Residual after_feed_forward_;
};

class SelfAttentionEncoder final : public Encoder {
 public:
  using Options = TransformerOptions;

  SelfAttentionEncoder(const Parameters& p, Index embedding, const Options& options)
      : units_(options.units), input_(p, embedding, options) {
    for (Index i = 1; i <= options.layers; ++i)
      layers_.emplace_back(p / fmt::format("layer{}", i), options);
    if (options.norm == "pre") norm_.emplace(p, "norm", options.units);
  }

  Annotations encode(const EncoderInput& source) const override {
    Var x = input_(input_.projected(source.embedded), {});
    const Positions positions = input_.positions(x, 0);
    for (std::size_t l = 0; l < layers_.size(); ++l)
      x = layers_[l](x, source, positions, static_cast<Index>(l));
    if (norm_) x = (*norm_)(x);
    Var last = select_last_valid(x, source.lengths);
    return {x, last, last, source.lengths};
  }
  Index size() const override { return units_; }
  Index start_size() const override { return units_; }
  bool attends() const override { return true; }

 private:
  Index units_;
  TransformerInput input_;
  std::vector<EncoderLayer> layers_;
  std::optional<LayerNorm> norm_;  // of the last sum, if sub-layers normalise their inputs
};
SOFTALIGN_ENCODER("self_attention",
                  SelfAttentionEncoder,
                  "Transformer encoder: multi-head self-attention (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
