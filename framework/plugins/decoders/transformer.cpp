// Transformer decoder (Vaswani et al. 2017, section 3.1): each layer attends to the target so far, then to
// the source with its own multi-head attention, then applies a feed-forward network, each with a residual
// connection. Training computes all positions at once; a search caches keys and values of the past. The
// recorded weights are the mean over the heads of the last layer; Inspection::heads receives those of each head,
// Inspection::own_heads those of self-attention. Positions enter as in encoder self_attention; relative vectors
// exist for the distances -k, ..., 0, the only ones that masked self-attention reads (k + 1 per layer, where the
// authors' code has 2k + 1). Attention to the source has no positions except those of the annotations.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using Wanted = CrossAttention::Wanted;

class DecoderLayer {
 public:
  DecoderLayer(const Parameters& p, const TransformerOptions& o)
      : self_(p, "self", o, SelfAttention::Sees::past),
        after_self_(p, "self", o),
        cross_(p, "cross", o.units, o.units, o.heads, o.units, o.attention_dropout),
        after_cross_(p, "cross", o),
        feed_forward_(p, "feed_forward", o),
        after_feed_forward_(p, "feed_forward", o) {}

  // self: the self-attention, over all positions or at one step. cross: the attention to the source.
  template <class Self, class Cross>
  Var operator()(Var x, Index first, Self self, Cross cross) const {
    x = after_self_(x, first, [&](Var y) { return self(self_, y); });
    x = after_cross_(x, first, [&](Var y) { return cross(cross_, y); });
    return after_feed_forward_(x, first, [&](Var y) { return feed_forward_(y, first); });
  }

 private:
  SelfAttention self_;
  Residual after_self_;
  CrossAttention cross_;
  Residual after_cross_;
  FeedForward feed_forward_;
  Residual after_feed_forward_;
};

class Transformer final : public Decoder {
 public:
  using Options = TransformerOptions;

  Transformer(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : units_(options.units),
        input_(p, sizes.embedding, options),
        memory_(p,
                "memory",
                sizes.annotation,
                2 * options.layers * options.units,
                Linear::Bias::no,
                init::glorot(2 * options.layers)) {
    for (Index i = 1; i <= options.layers; ++i)
      layers_.emplace_back(p / fmt::format("layer{}", i), options);
    if (options.norm == "pre") norm_.emplace(p, "norm", options.units);
  }

  // [B,S,2 L d]: keys and values of layer 1, of layer 2, ...
  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{memory_(annotations.states), {}, annotations.lengths};
  }
  // For each layer the keys and values of the past [B,t,2d], initially t = 0.
  State start(const Annotations& annotations, const AttentionMemory&) const override {
    Tape& tape = annotations.states.tape();
    State state;
    for (std::size_t l = 0; l < layers_.size(); ++l)
      state.push(tape.constant(tape.zeros({annotations.states.shape()[0], 0, 2 * units_})));
    return state;
  }
  Var inputs(Var embedded) const override { return input_.projected(embedded); }

  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    State next = state;
    const Outputs outputs =
        run(memory, input, state.step, [&](const Own& self, Var y, std::size_t l) {
          return self.attention.step(y, next[l], self.positions, self.each);
        });
    return {next, {outputs.output}, unstack_steps(Var(outputs.weights))[0]};
  }
  Unrolled unroll(const AttentionMemory& memory, State, Var&& inputs) const override {
    Outputs outputs = run(memory, inputs, 0, [](const Own& self, Var y, std::size_t) {
      return self.attention.causal(y, self.positions, self.each);
    });
    return {outputs.output, unstack_steps(std::move(outputs.weights))};
  }
  Var readout(Var outputs, Var) const override { return outputs; }
  Index readout_size() const override { return units_; }
  Index output_size() const override { return units_; }
  bool aligns() const override { return true; }
  bool steps() const override { return false; }
  bool attends() const override { return true; }

 private:
  struct Outputs {
    Var output;   // [T,B,d] or [B,d]
    Var weights;  // [T,B,S]
  };
  struct Own {  // self-attention of a layer
    const SelfAttention& attention;
    const Positions& positions;
    bool each;
  };
  // self(Own, y, l): the self-attention of layer l.
  template <class Self>
  Outputs run(const AttentionMemory& memory, Var input, Index first, Self self) const {
    Outputs outputs{input_(input, first), {}};
    const Positions positions = input_.positions(outputs.output, first);
    const Inspection& inspection = memory.inspection;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const bool top = l + 1 == layers_.size();
      const Wanted wanted = inspection.heads != nullptr ? Wanted::each
                            : top                       ? Wanted::mean
                                                        : Wanted::context;
      const auto own = [&](const SelfAttention& attention, Var y) {
        const MultiHead out =
            self(Own{attention, positions, inspection.own_heads != nullptr}, y, l);
        if (out.each) inspection.own_heads->add(static_cast<Index>(l), first, out.each.value());
        return out.context;
      };
      const auto cross = [&](const CrossAttention& attention, Var y) {
        const Index begin = static_cast<Index>(l) * 2 * units_;
        const MultiHead out = attention(y, memory.keys, begin, memory.lengths, wanted, first);
        if (out.each) inspection.heads->add(static_cast<Index>(l), first, out.each.value());
        outputs.weights = out.mean;
        return out.context;
      };
      outputs.output = layers_[l](outputs.output, first, own, cross);
    }
    if (norm_) outputs.output = (*norm_)(outputs.output);
    return outputs;
  }

  Index units_;
  TransformerInput input_;
  Linear memory_;
  std::vector<DecoderLayer> layers_;
  std::optional<LayerNorm> norm_;  // of the last sum, if sub-layers normalise their inputs
};
SOFTALIGN_DECODER(
    "transformer",
    Transformer,
    "masked self-attention and multi-head attention to the source (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
