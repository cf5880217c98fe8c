// Transformer encoder (Vaswani et al. 2017, section 3.1): layers of self-attention and a feed-forward
// network, each with a residual connection. It has no final state: `last` and `start` are the
// annotation of </s>, which attends to the whole sentence.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class EncoderLayer {
 public:
  EncoderLayer(const Parameters& p, const TransformerOptions& options)
      : attention_(p, "attention", options),
        after_attention_(p, "attention", options),
        feed_forward_(p, "feed_forward", options),
        after_feed_forward_(p, "feed_forward", options) {}

  // index: which layer this is, from 0.
  Var operator()(Var x, const EncoderInput& source, Index index) const {
    x = after_attention_(x, {}, [&](Var y) {
      const MultiHead out = attention_.within(y, source.lengths, source.heads != nullptr);
      if (out.each) source.heads->add(index, 0, out.each.value());
      return out.context;
    });
    return after_feed_forward_(x, {}, [&](Var y) { return feed_forward_(y); });
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
    for (std::size_t l = 0; l < layers_.size(); ++l)
      x = layers_[l](x, source, static_cast<Index>(l));
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
  std::optional<LayerNorm> norm_;  // of the last sum, when sub-layers normalise their inputs
};
SOFTALIGN_ENCODER("self_attention",
                  SelfAttentionEncoder,
                  "Transformer encoder: multi-head self-attention (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
