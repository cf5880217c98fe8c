// Convolutional decoder (Gehring et al. 2017, sections 3.1 to 3.5). With g_i = w_i + p_i, the embedding of the
// previous symbol and that of its position, h^0 = W_in g + b_in, annotations z_j and the vectors z_j + e_j that
// contexts average (encoder gated_convolutional; others: the annotations, in the width of the embeddings), layer
// l of width k computes
//   h_i = sqrt(0.5) (v(W^l [x_{i-k+1} ; ... ; x_i] + b^l) + x_i),   v([a ; b]) = a sigmoid(b),
//   d_i = W_d h_i + b_d + g_i   (equation 1),   a_ij = softmax_j(d_i . z_j),
//   c_i = sqrt(m) sum_j a_ij (z_j + e_j)   (equation 2, times m sqrt(1/m) for m annotations: section 3.4)
// and passes h_i + c_i on as x_i of layer l + 1. Before the first position x is 0. The readout is
// W_out x_i + b_out of the last layer. A c_i of another width than h_i is projected.
// Where the authors' code differs, this follows the paper: the code attends before it adds x_i, and scales the sums
// with g_i, e_j and c_i by sqrt(0.5), too. Weight normalisation of all layers (section 4.2) is not done.
// Training computes all positions at once; a search keeps the last k - 1 inputs of each layer. The recorded
// weights are the mean over the layers; Inspection::heads receives those of each layer.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class ConvolutionalLayer {
 public:
  // d: units, f: embedding
  ConvolutionalLayer(const Parameters& p, Index d, Index f, Index width, double dropout)
      : query_scale_(std::sqrt(static_cast<real>(f))),
        dropout_(p, "dropout", dropout),
        convolution_(p, "convolution", d, width, dropout),
        query_(mapping(p, "query", d, f)) {
    if (d != f) context_.emplace(mapping(p, "context", f, d));
  }

  // x [T,B,d] or [B,d]; window(x): [..., k d]
  template <class Window>
  Var hidden(Var x, Index first, Window window) const {
    Var before = kSumScale * x;  // before the window, which may overwrite x
    Var gated = convolution_(window(Residual::drop_out(dropout_, x, first)));
    return add(kSumScale * gated, before);
  }
  // each: also returns the weights of this layer.
  MultiHead attend(Var h, Var g, const AttentionMemory& memory, bool each) const {
    // multi_head_attention divides energies by sqrt(f).
    Var query = query_scale_ * (query_(h) + g);
    const Index size = memory.keys.shape().last();
    MultiHead source = multi_head_attention(
        {query, 0},
        {memory.keys, 0},
        {memory.values, 0},
        {.size = size, .heads = 1, .lengths = memory.lengths, .mean = true, .each = each});
    if (context_) source.context = (*context_)(source.context);
    return source;
  }

 private:
  real query_scale_;
  Dropout dropout_;
  GatedConvolution convolution_;
  Linear query_;
  std::optional<Linear> context_;
};

// Returns [T,B,k d] for x [T,B,d]: the last k positions up to each one, 0 before the first.
Var causal_windows(Var x, Index width) {
  Tape& tape = x.tape();
  const Index rows = x.shape()[1], size = x.shape()[2];
  const std::span<const Var> steps = unstack_steps(std::move(x));
  const Index count = std::ssize(steps);
  Var nothing = tape.constant(tape.zeros({rows, size}));
  Var* parts = tape.arena().array_of<Var>(count * width);
  for (Index t = 0; t < count; ++t)
    for (Index k = 0; k < width; ++k) {
      const Index at = t - (width - 1) + k;
      parts[t * width + k] = at < 0 ? nothing : steps[usize(at)];
    }
  return stack_steps({parts, usize(count * width)}, width);
}

class ConvolutionalDecoder final : public Decoder {
 public:
  struct Options {
    Index units = 256;
    Index layers = 4;
    Index width = 3;
    double dropout = 0;
    Index readout_units = 0;
    Index max_positions = 1024;
    template <class V>
    void describe(V& v) {
      v("units", units, "width of the convolutions; paper: 512", between(1, kLargestLayer));
      v("layers",
        layers,
        "number of convolutions, each with attention; paper: 20 (English to Romanian)",
        between(1, 32));
      v("width", width, "width of a convolution: a position and those before it", between(2, 31));
      v("dropout",
        dropout,
        "dropout rate of embeddings with positions, and of the input of each convolution; that of "
        "the readout is model.dropout.outputs",
        fraction());
      v("readout_units",
        readout_units,
        "width of the readout; 0: that of the embeddings, as in the paper",
        between(0, kLargestLayer));
      v("max_positions",
        max_positions,
        "number of learned positions; later ones share the last",
        between(1, kLongestSentence));
    }
  };

  ConvolutionalDecoder(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : units_(options.units),
        width_(options.width),
        readout_size_(options.readout_units > 0 ? options.readout_units : sizes.embedding),
        positions_((p / "positions")
                       .add("P", {options.max_positions, sizes.embedding}, init::normal(0.1))),
        dropout_(p, "dropout", options.dropout),
        in_(mapping(p, "in", sizes.embedding, units_, options.dropout)),
        out_(mapping(p, "out", units_, readout_size_)) {
    if (sizes.annotation != sizes.embedding)
      memory_.emplace(mapping(p, "memory", sizes.annotation, sizes.embedding));
    for (Index i = 1; i <= options.layers; ++i)
      layers_.emplace_back(
          p / fmt::format("layer_{}", i), units_, sizes.embedding, width_, options.dropout);
  }

  // keys [B,S,f]: z; values [B,S,f]: sqrt(m) (z + e)
  AttentionMemory prepare(const Annotations& annotations) const override {
    const auto projected = [&](Var x) { return memory_ ? (*memory_)(x) : x; };
    Var keys = projected(annotations.states);
    Var values = annotations.values ? projected(annotations.values) : keys;
    Tape& tape = values.tape();
    View scale = tape.allocate(values.shape());
    const Index each = values.shape()[1] * values.shape()[2];
    for (std::size_t b = 0; b < annotations.lengths.size(); ++b)
      std::fill_n(scale.data + static_cast<Index>(b) * each,
                  each,
                  std::sqrt(static_cast<real>(annotations.lengths[b])));
    return Memory{keys, values * tape.constant(scale), annotations.lengths};
  }
  // The last k - 1 inputs of each layer, side by side [B, (k - 1) d].
  State start(const Annotations& annotations, const AttentionMemory&) const override {
    Tape& tape = annotations.states.tape();
    State state;
    for (std::size_t l = 0; l < layers_.size(); ++l)
      state.push(tape.constant(tape.zeros({annotations.states.shape()[0], (width_ - 1) * units_})));
    return state;
  }
  Var inputs(Var embedded) const override { return embedded; }

  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    State next = state;
    const Outputs outputs = run(memory, input, state.step, [&](std::size_t l, Var x) {
      Var window = concat_last(next[l], x);
      next[l] = slice_last(window, units_, (width_ - 1) * units_);
      return window;
    });
    return {next, {outputs.output}, unstack_steps(Var(outputs.weights))[0]};
  }
  Unrolled unroll(const AttentionMemory& memory, State, Var&& inputs) const override {
    Outputs outputs =
        run(memory, inputs, 0, [this](std::size_t, Var x) { return causal_windows(x, width_); });
    return {outputs.output, unstack_steps(std::move(outputs.weights))};
  }
  Var readout(Var outputs, Var) const override { return out_(outputs); }
  Index readout_size() const override { return readout_size_; }
  bool aligns() const override { return true; }

 private:
  struct Outputs {
    Var output;   // [T,B,d] or [B,d]
    Var weights;  // [T,B,S]
  };
  // window(l, x): x after the previous inputs of layer l.
  template <class Window>
  Outputs run(const AttentionMemory& memory, Var embedded, Index first, Window window) const {
    Tape& tape = embedded.tape();
    Var g = Residual::drop_out(
        dropout_, add_positions(1, embedded, tape.parameter(*positions_), first), first);
    HeadWeights* const heads = memory.inspection.heads;
    Outputs outputs{in_(g), {}};
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      Var h = layers_[l].hidden(outputs.output, first, [&](Var x) { return window(l, x); });
      const MultiHead source = layers_[l].attend(h, g, memory, heads != nullptr);
      if (source.each) heads->add(static_cast<Index>(l), first, source.each.value());
      outputs.output = h + source.context;
      outputs.weights =
          outputs.weights ? add(std::move(outputs.weights), source.mean) : source.mean;
    }
    count_energies(memory.lengths,
                   std::ssize(layers_) * sentence_rows(View{nullptr, g.shape()}).positions);
    outputs.weights = real(1) / static_cast<real>(layers_.size()) * outputs.weights;
    return outputs;
  }

  Index units_, width_, readout_size_;
  Parameter* positions_;
  Dropout dropout_;
  Linear in_, out_;
  std::optional<Linear> memory_;
  std::vector<ConvolutionalLayer> layers_;
};
SOFTALIGN_DECODER("convolutional",
                  ConvolutionalDecoder,
                  "causal gated convolutions, attention in every layer (Gehring et al. 2017)");

}  // namespace
}  // namespace softalign
