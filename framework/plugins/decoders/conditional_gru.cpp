// Conditional GRU (Sennrich et al. 2017, section 2; dl4mt, Nematus): two transitions with the
// attention between them,
//   s'_j = GRU_1(s_{j-1}, E y_{j-1}),   c_j = attention(s'_j),   s_j = GRU_2(s'_j, c_j),
//   readout from U_o s_j + V_o E y_{j-1} + C_o c_j.
// The reset gates act after the product; biases are as in the authors' code.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

// s' = GRU(s, x) with x [.,3U], projected beforehand.
class Transition {
 public:
  Transition(const Parameters& p,
             std::string_view input,
             Index in,
             Linear::Bias of_input,
             Linear::Bias of_state,
             Index units,
             double recurrent_dropout)
      : units_(units),
        input_(p, input, in, 3 * units, of_input, init::glorot(3)),
        state_(p, "state", units, 3 * units, of_state, init::orthogonal(3)),
        dropout_(p, recurrent_dropout) {}

  Var inputs(Var x) const { return input_(x); }
  Var step(Var&& input, Var previous, Var mask) const {  // mask: empty without dropout
    return gru_reset_after(std::move(input), state_(mask ? previous * mask : previous), previous);
  }
  bool draws(const Tape& tape) const { return dropout_.draws(tape); }
  Var mask(Tape& tape, Index sentences) const { return dropout_.mask(tape, sentences, units_); }

 private:
  Index units_;
  Linear input_;
  Linear state_;
  StateDropout dropout_;
};

class ConditionalGru final : public Decoder {
 public:
  struct Options {
    Index units = 256;
    InitialStateOptions initial_state{"mean"};
    Readout::Options readout{"tanh"};
    double recurrent_dropout = 0;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units", between(1, kLargestLayer));
      initial_state.describe(v);
      readout.describe(v, "the size of the embeddings, as in the code");
      describe_recurrent_dropout(v, recurrent_dropout);
    }
  };

  ConditionalGru(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : units_(options.units),
        attention_(sizes.attention(p / "attention", options.units)),
        start_(p, options.initial_state, sizes, 1, 1, options.units),
        first_(p / "first",
               "symbol",
               sizes.embedding,
               Linear::Bias::yes,
               Linear::Bias::no,
               options.units,
               options.recurrent_dropout),
        second_(p / "second",
                "context",
                context_size(*attention_),
                Linear::Bias::no,
                Linear::Bias::yes,
                options.units,
                options.recurrent_dropout),
        readout_(p / "readout",
                 options.readout,
                 options.units + attention_->context_size(),
                 sizes.embedding,
                 sizes.embedding) {
    require_source(options.initial_state, attention_->context_size());
  }

  AttentionMemory prepare(const Annotations& annotations) const override {
    return attention_->prepare(annotations);
  }
  State start(const Annotations& annotations, const AttentionMemory& memory) const override {
    State state = start_(annotations);
    Tape& tape = state[0].tape();
    const Index sentences = state[0].shape()[0];
    if (first_.draws(tape))
      state.append({first_.mask(tape, sentences), second_.mask(tape, sentences)});
    state.append(attention_->start(memory));
    return state;
  }
  Var inputs(Var embedded) const override { return first_.inputs(embedded); }
  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const bool masked = first_.draws(input.tape());
    Var between = first_.step(std::move(input), state[0], masked ? state[1] : Var());
    const State past = state.from(masked ? 3 : 1);
    const Glimpse glimpse = attention_->attend(memory, {{between, state.step}, past});
    Var context = second_.inputs(glimpse.context);
    State next{second_.step(std::move(context), between, masked ? state[2] : Var())};
    const State output{next[0], glimpse.context};
    if (masked) next.append({state[1], state[2]});
    next.append(glimpse.next);
    return {next, output, glimpse.weights};
  }
  Var readout(Var outputs, Var embedded) const override { return readout_(outputs, embedded); }
  Index readout_size() const override { return readout_.size(); }
  Index output_size() const override { return units_ + attention_->context_size(); }
  bool aligns() const override { return attention_->aligns(); }
  bool reads_links() const override { return attention_->reads_links(); }

 private:
  static Index context_size(const Attention& attention) {
    if (attention.context_size() > 0) return attention.context_size();
    throw SpecError(
        "model.decoder: conditional_gru's second transition reads the context, but this attention "
        "has none; use an attention with a context, or decoder attentional_gru");
  }

  Index units_;
  std::unique_ptr<Attention> attention_;
  InitialState start_;
  Transition first_;
  Transition second_;
  Readout readout_;
};
SOFTALIGN_DECODER(
    "conditional_gru",
    ConditionalGru,
    "two GRU transitions with attention between them (Sennrich et al. 2017, Nematus)");

}  // namespace
}  // namespace softalign
