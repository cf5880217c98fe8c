// LSTMN decoder (Cheng et al. 2016, section 4): an LSTM that attends over all its earlier states, as encoder lstmn
// does, besides attending to the source. At step t, with input x_t and the tapes h_0, ..., h_{t-1} and c_0, ...,
// c_{t-1}, the intra-attention (equations 4 to 6) is
//   a_ti = v . tanh(W_h h_i + W_x x_t + W_s h~_{t-1}),   s_t = softmax(a_t),
//   h~_t = sum_i s_ti h_i,   c~_t = sum_i s_ti c_i,   h~_0 = 0.
// fusion: shallow (figure 3a): an LSTMN in place of the LSTM of Bahdanau's decoder, x_t = [E y_{t-1} ; context],
//   where the query of the attention is h_{t-1}; i, f, o, g as in an LSTM with h~_t (equation 7),
//   c_t = f c~_t + i g,   h_t = o tanh(c_t)   (equations 8 and 9).
// fusion: deep (figure 3b), x_t = E y_{t-1}: with annotations gamma_j and the source's memory tape alpha_j,
//   p_t = weights for the query [x_t ; gamma~_{t-1}]   (equations 10 and 11; score additive: u . tanh(..)),
//   gamma~_t = sum_j p_tj gamma_j,   alpha~_t = sum_j p_tj alpha_j,   gamma~_0 = 0   (equation 12),
//   r_t = sigmoid(W_r [gamma~_t ; x_t] + b_r)   (equation 13),
//   c_t = r_t alpha~_t + f c~_t + i g,   h_t = o tanh(c_t)   (equations 14 and 15).
// The alpha_j are the vectors that contexts average: the cells of encoder lstmn with values: cells, otherwise the
// annotations. They are projected if they are not as wide as the state.
// The paper defines neither a first state nor a readout. Here the tapes begin with h_0 and c_0 of initial_state, and
// the readout is that of Bahdanau's decoder, from h_t, E y_{t-1} and, with shallow fusion, the context.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

// The intra-attention.
class OwnPast {
 public:
  OwnPast(const Parameters& p, Index in, Index context, Index units)
      : units_(units),
        input_(p, "input", in, units, Linear::Bias::no),
        state_(p.add("W_state", {units, units}, init::glorot())),
        summary_(p.add("W_summary", {units, units}, init::glorot())),
        v_(p.add("v", {units}, init::glorot())) {
    if (context > 0) context_.emplace(p, "context", context, units, Linear::Bias::no);
  }

  // Tapes of one step: h and c side by side [B,1,2U], W_h h [B,1,U].
  State start(Var h, Var c) const {
    const Index rows = h.shape()[0];
    return {reshape(concat_last(h, c), {rows, 1, 2 * units_}),
            reshape(linear(h, h.tape().parameter(*state_)), {rows, 1, units_})};
  }
  Var inputs(Var x) const { return input_(x); }
  // Returns h~ and c~ side by side [B,2U]. input: W_x x_t without the context's term.
  Var summary(Var&& input, Var context, Var previous, Var tape_of_states, Var keys) const {
    Tape& tape = keys.tape();
    const Index rows = keys.shape()[0], past = keys.shape()[1];
    Index* lengths = tape.arena().array_of<Index>(rows);
    std::fill_n(lengths, rows, past);
    const std::span<const Index> all{lengths, usize(rows)};
    Var query = add_linear(std::move(input), previous, tape.parameter(*summary_));
    if (context_) query = context_->add_to(std::move(query), context);
    Var energies = additive_energy(keys, query, tape.parameter(*v_), all);
    return weighted_sum(softmax_prefix(energies, all), tape_of_states, all);
  }
  State appended(Var tape_of_states, Var keys, Var h, Var c) const {
    return {append_step(tape_of_states, concat_last(h, c)),
            append_step(keys, linear(h, h.tape().parameter(*state_)))};
  }

 private:
  Index units_;
  Linear input_;
  Parameter* state_;
  Parameter* summary_;
  Parameter* v_;
  std::optional<Linear> context_;
};

// The components of deep fusion: the gate r, and the projection of alpha~.
class DeepFusion {
 public:
  DeepFusion(const Parameters& p, Index embedding, Index annotation, Index units)
      : annotation_(annotation),
        symbol_(p / "gate", "symbol", embedding, units),
        source_(p / "gate", "source", annotation, units, Linear::Bias::no) {
    if (annotation != units) memory_.emplace(p, "memory", annotation, units, Linear::Bias::no);
  }

  Var inputs(Var embedded) const { return concat_last(symbol_(embedded), embedded); }
  // context [B,2D]: gamma~ and alpha~.
  Var hidden_of(Var context) const { return slice_last(context, 0, annotation_); }
  // r alpha~; input [B,U]: the symbol's term of r.
  Var gated(Var&& input, Var context) const {
    Var r = sigmoid(source_.add_to(std::move(input), hidden_of(context)));
    Var alpha = slice_last(context, annotation_, annotation_);
    return r * (memory_ ? (*memory_)(alpha) : alpha);
  }

 private:
  Index annotation_;
  Linear symbol_, source_;
  std::optional<Linear> memory_;
};

class LstmnDecoder final : public Decoder {
 public:
  struct Options {
    Index units = 256;
    std::string fusion = "shallow";
    InitialStateOptions initial_state;
    Readout::Options readout;
    double forget_bias = Lstm::kForgetBias;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units, also of the intra-attention", between(1, kLargestLayer));
      v("fusion",
        fusion,
        "how the source reaches the state: shallow, its context is read as an input; deep, a gate "
        "adds it to the cells (paper, section 4)",
        one_of("shallow", "deep"));
      initial_state.describe(v);
      readout.describe(v, "half the decoder's units");
      describe_forget_bias(v, forget_bias);
    }
  };

  LstmnDecoder(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : units_(options.units),
        embedding_(sizes.embedding),
        deep_(options.fusion == "deep"
                  ? std::optional(
                        DeepFusion(p / "deep", sizes.embedding, sizes.annotation, options.units))
                  : std::nullopt),
        attention_(sizes.attention(p / "attention",
                                   deep_ ? sizes.embedding + sizes.annotation : options.units)),
        start_(p, options.initial_state, sizes, 1, Lstm::kStates, options.units),
        cell_(p, sizes.embedding, options.units, options.forget_bias),
        past_(p / "intra", sizes.embedding, deep_ ? 0 : attention_->context_size(), options.units),
        readout_(p / "readout",
                 options.readout,
                 options.units + (deep_ ? 0 : attention_->context_size()),
                 sizes.embedding,
                 std::max<Index>(1, options.units / 2)) {
    if (deep_ && !(attention_->weights_can_change() && attention_->weights_sum_to_one()))
      throw SpecError(
          "model.decoder.fusion: deep needs an attention that averages annotations with weights "
          "that "
          "sum to 1, such as global; use it, or fusion: shallow");
    require_source(options.initial_state, attention_->context_size());
    if (!deep_ && attention_->context_size() > 0)
      context_.emplace(p,
                       "context",
                       attention_->context_size(),
                       Lstm::kGates * units_,
                       Linear::Bias::no,
                       init::glorot(Lstm::kGates));
  }

  // With deep fusion, contexts are gamma~ and alpha~ side by side.
  AttentionMemory prepare(const Annotations& annotations) const override {
    if (!deep_) return attention_->prepare(annotations);
    Annotations both = annotations;
    both.values = concat_last(annotations.states, annotations.averaged());
    return attention_->prepare(both);
  }
  // h, h~, the tapes of the intra-attention and, with deep fusion, gamma~.
  State start(const Annotations& annotations, const AttentionMemory& memory) const override {
    const State first = start_(annotations);
    Tape& tape = first[0].tape();
    const Index rows = first[0].shape()[0];
    State state{first[0], tape.constant(tape.zeros({rows, units_}))};
    state.append(past_.start(first[0], first[1]));
    if (deep_) state.push(tape.constant(tape.zeros({rows, annotations.states.shape().last()})));
    state.append(attention_->start(memory));
    return state;
  }
  // The gates [4U] and W_x x [U]; with deep fusion also the symbol's term of r [U] and the embedding [E].
  Var inputs(Var embedded) const override {
    Var read = concat_last(cell_.inputs(embedded), past_.inputs(embedded));
    return deep_ ? concat_last(read, deep_->inputs(embedded)) : read;
  }
  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const auto part = [&](Index begin, Index size) { return slice_last(input, begin, size); };
    Var query = deep_ ? concat_last(part(6 * units_, embedding_), state[4]) : state[0];
    const Glimpse glimpse =
        attention_->attend(memory, {{query, state.step}, state.from(deep_ ? 5 : 4)});
    Var both =
        past_.summary(part(4 * units_, units_), glimpse.context, state[1], state[2], state[3]);
    Var h = slice_last(both, 0, units_), c = slice_last(both, units_, units_);
    Var gates = part(0, 4 * units_);
    if (context_) gates = context_->add_to(std::move(gates), glimpse.context);
    const LstmState states =
        deep_
            ? fused(std::move(gates), h, c, deep_->gated(part(5 * units_, units_), glimpse.context))
            : cell_.step(std::move(gates), {h, c});
    State next{states[0], h};
    next.append(past_.appended(state[2], state[3], states[0], states[1]));
    if (deep_) next.push(deep_->hidden_of(glimpse.context));
    next.append(glimpse.next);
    State output{states[0]};
    if (context_) output.push(glimpse.context);
    return {next, output, glimpse.weights};
  }
  Var readout(Var outputs, Var embedded) const override { return readout_(outputs, embedded); }
  Index readout_size() const override { return readout_.size(); }
  bool aligns() const override { return attention_->aligns(); }
  bool reads_links() const override { return attention_->reads_links(); }

 private:
  // An LSTM step that also adds `source` to the cells.
  LstmState fused(Var&& gates, Var h, Var c, Var source) const {
    Var all = add_linear(std::move(gates), h, cell_.recurrent(h.tape()));
    const auto gate = [&](Index k) { return slice_last(all, k * units_, units_); };
    Var cells = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanh(gate(2)) + source;
    return {sigmoid(gate(3)) * tanh(cells), cells};
  }

  Index units_, embedding_;
  std::optional<DeepFusion> deep_;
  std::unique_ptr<Attention> attention_;
  InitialState start_;
  Lstm cell_;
  OwnPast past_;
  Readout readout_;
  std::optional<Linear> context_;
};
SOFTALIGN_DECODER("lstmn",
                  LstmnDecoder,
                  "LSTM with intra-attention over its own past (Cheng et al. 2016)");

}  // namespace
}  // namespace softalign
