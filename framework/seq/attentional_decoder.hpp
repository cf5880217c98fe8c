// A recurrent decoder that attends before each step (Bahdanau et al. 2015, appendix A.2.2), over any
// cell of nn/recurrent.hpp: energies from h_{i-1},
//   s_i = cell(s_{i-1}, [E y_{i-1} ; c_i]),   readout from U_o h + V_o E y_{i-1} + C_o c_i,
// where h is h_{i-1} as in Bahdanau's code, or h_i as in Cho et al. 2014 (appendix A.1.2) and Xu et al. 2015
// (equation 7). With a context gate, c_i = sigmoid(w h_{i-1} + b) times the attention's context (Xu et al.
// 2015, section 4.2.1). With query: with_symbol, energies are from W_d h_{i-1} + b_d + E y_{i-1} (Gehring et
// al. 2016, section 2). A context of size 0 is omitted everywhere. A ReadoutLayer in place of Readout must have its
// Options, constructor, operator() and size().
#pragma once

#include <optional>
#include <string>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"
#include "framework/nn/recurrent.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/recurrent_state.hpp"

namespace softalign {

// The layer before the projection to the vocabulary: f(U_o s + C_o c + V_o E y), where s (states) and c
// (context) are the outputs of a step, and y is the previous symbol. A deep output (Pascanu et al. 2014;
// Bahdanau et al. 2015, appendix A.2.2). The decoder defines s.
class Readout {
 public:
  struct Options {  // written next to the decoder's own
    std::string readout = "maxout";
    Index readout_units = 0;

    // of_zero: the meaning of `readout_units: 0`.
    template <class V>
    void describe(V& v, std::string_view of_zero) {
      v("readout", readout, "layer before the softmax", one_of("maxout", "tanh", "relu", "linear"));
      v("readout_units",
        readout_units,
        fmt::format("units of that layer, after maxout; 0: {}", of_zero),
        between(0, kLargestLayer));
    }
  };

  // outputs: width of the outputs of a step; of_zero: R if readout_units is 0.
  Readout(
      const Parameters& p, const Options& options, Index outputs, Index embedding, Index of_zero);

  Var operator()(Var outputs, Var embedded) const;  // [..., outputs] [..., E] -> [..., R]
  Index size() const { return size_; }              // R

 private:
  enum class Function { maxout, tanh, relu, linear };
  static Function function_named(const std::string& name);

  Function function_;
  Index size_;
  Linear output_;
  Linear symbol_;
};

template <class Cell, class ReadoutLayer = Readout>
class AttentionalDecoder : public Decoder {
 public:
  struct Options {
    Index units = 256;
    InitialStateOptions initial_state;
    typename ReadoutLayer::Options readout;
    std::string readout_state = "before";
    bool context_gate = false;
    double recurrent_dropout = 0;
    CellOptions<Cell> cell;
    std::optional<std::string> query;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units", between(1, kLargestLayer));
      initial_state.describe(v);
      readout.describe(v, "half the decoder's units, as in the paper");
      v("readout_state",
        readout_state,
        "state that the readout uses: the one before the step (Bahdanau et al. 2015) or after it "
        "(Cho et al. 2014, Xu et al. 2015)",
        one_of("before", "after"));
      v("context_gate",
        context_gate,
        "a gate, of the state before the step, scales the context (Xu et al. 2015)");
      describe_recurrent_dropout(v, recurrent_dropout);
      cell.describe(v);
      v("query",
        query,
        "query of the attention: state, the state before the step; with_symbol, W state + b + the "
        "embedding of the previous symbol (Gehring et al. 2016); null: state",
        one_of("state", "with_symbol"));
    }
  };

  AttentionalDecoder(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : reads_next_(options.readout_state == "after"),
        units_(options.units),
        symbol_(options.query == "with_symbol" ? sizes.embedding : 0),
        attention_(sizes.attention(p / "attention", symbol_ > 0 ? symbol_ : options.units)),
        start_(p, options.initial_state, sizes, 1, Cell::kStates, options.units),
        cell_(options.cell.make(p, sizes.embedding, options.units)),
        dropout_(p, options.recurrent_dropout),
        context_(context_layer(p, attention_->context_size(), options.units)),
        readout_(p / "readout",
                 options.readout,
                 options.units + attention_->context_size(),
                 sizes.embedding,
                 std::max<Index>(1, options.units / 2)) {
    require_source(options.initial_state, attention_->context_size());
    if (symbol_ > 0) query_.emplace(p, "query", options.units, symbol_);
    if (!options.context_gate) return;
    if (!context_)
      throw SpecError(
          "model.decoder.context_gate: it scales the context, but this attention has none; set it "
          "to "
          "false, or use an attention with a context");
    gate_.emplace(p, "context_gate", options.units, 1);
  }

  AttentionMemory prepare(const Annotations& annotations) const override {
    return attention_->prepare(annotations);
  }
  State start(const Annotations& annotations, const AttentionMemory& memory) const override {
    State state = start_(annotations);
    Tape& tape = state[0].tape();
    if (dropout_.draws(tape)) state.push(dropout_.mask(tape, state[0].shape()[0], cell_.units()));
    state.append(attention_->start(memory));
    return state;
  }
  // Returns the cell's inputs, followed by the embeddings if the query contains the symbol.
  Var inputs(Var embedded) const override {
    Var read = cell_.inputs(embedded);
    return query_ ? concat_last(read, embedded) : read;
  }
  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const auto previous = cell_states<Cell>(state);
    const bool masked = dropout_.draws(input.tape());
    const Var mask = masked ? state[Cell::kStates] : Var();
    const State past = state.from(Cell::kStates + (masked ? 1 : 0));
    Var query = previous[0];
    if (query_) {
      const Index read = input.shape().last() - symbol_;
      query = (*query_)(query) + slice_last(input, read, symbol_);
      input = slice_last(input, 0, read);
    }
    const Glimpse glimpse = attention_->attend(memory, {{query, state.step}, past});
    const Var context = gate_ ? gated(glimpse.context, previous[0]) : glimpse.context;
    if (context_) input = context_->add_to(std::move(input), context);
    const auto states = cell_.step(std::move(input), previous, mask);
    State next, output{reads_next_ ? states[0] : previous[0]};
    push_states<Cell>(next, states);
    if (masked) next.push(mask);
    next.append(glimpse.next);
    if (context_) output.push(context);
    return {next, output, glimpse.weights};
  }
  Var readout(Var outputs, Var embedded) const override { return readout_(outputs, embedded); }
  Index readout_size() const override { return readout_.size(); }
  Index output_size() const override { return units_ + attention_->context_size(); }
  bool aligns() const override { return attention_->aligns(); }
  bool reads_links() const override { return attention_->reads_links(); }

 private:
  static std::optional<Linear> context_layer(const Parameters& p, Index context, Index units) {
    if (context == 0) return {};
    return Linear(
        p, "context", context, Cell::kGates * units, Linear::Bias::no, init::glorot(Cell::kGates));
  }

  Var gated(Var context, Var state) const {
    Tape& tape = context.tape();
    View ones = tape.allocate({1, context.shape()[1]});
    std::fill(ones.begin(), ones.end(), real{1});
    return linear(sigmoid((*gate_)(state)), tape.constant(ones)) * context;
  }

  bool reads_next_;
  Index units_;
  Index symbol_;  // width of the embedding added to the query; 0: none is added
  std::unique_ptr<Attention> attention_;
  InitialState start_;
  Cell cell_;
  StateDropout dropout_;
  std::optional<Linear> context_;
  ReadoutLayer readout_;
  std::optional<Linear> gate_;
  std::optional<Linear> query_;
};

}  // namespace softalign
