// Attentional GRU decoder (Bahdanau et al. 2015, appendix A.2.2): s_0 = tanh(W_s start), energies
// from s_{i-1},
//   s_i = GRU(s_{i-1}, [E y_{i-1} ; c_i]),   readout from U_o s_{i-1} + V_o E y_{i-1} + C_o c_i.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class AttentionalGru final : public Decoder {
 public:
  struct Options {
    Index units = 256;
    std::string readout = "maxout";
    Index readout_units = 0;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units", between(1, kLargestLayer));
      v("readout", readout, "layer before the softmax", one_of("maxout", "tanh"));
      v("readout_units",
        readout_units,
        "units of that layer, after maxout; 0: half the decoder's units, as in the paper",
        between(0, kLargestLayer));
    }
  };

  AttentionalGru(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : maxout_(options.readout == "maxout"),
        readout_units_(options.readout_units > 0 ? options.readout_units
                                                 : std::max<Index>(1, options.units / 2)),
        attention_(sizes.attention(p / "attention", options.units)),
        start_(p, "start", sizes.start, options.units),
        gru_(p, sizes.embedding, options.units),
        context_(p,
                 "context",
                 attention_->context_size(),
                 3 * options.units,
                 Linear::Bias::no,
                 init::glorot(3)),
        output_(p / "readout",
                "output",
                options.units + attention_->context_size(),
                wide(),
                Linear::Bias::yes),
        symbol_(p / "readout", "symbol", sizes.embedding, wide(), Linear::Bias::no) {}

  Memory prepare(const Annotations& annotations) const override {
    return attention_->prepare(annotations);
  }
  State start(const Annotations& annotations, const Memory& memory) const override {
    State state{tanh(start_(annotations.start))};
    state.append(attention_->start(memory));
    return state;
  }
  Var inputs(Var embedded) const override { return gru_.inputs(embedded); }
  DecoderStep step(const Memory& memory, const State& state, Var input) const override {
    const Glimpse glimpse = attention_->attend(memory, {state[0], state.step, {}, state.from(1)});
    State next{gru_.step(context_.add_to(std::move(input), glimpse.context), {state[0]})[0]};
    next.append(glimpse.next);
    return {next, {state[0], glimpse.context}, glimpse.weights};
  }
  Var readout(Var outputs, Var embedded) const override {
    Var sum = symbol_.add_to(output_(outputs), embedded);
    return maxout_ ? maxout(sum) : tanh(sum);
  }
  Index readout_size() const override { return readout_units_; }
  bool aligns() const override { return attention_->aligns(); }
  bool reads_links() const override { return attention_->reads_links(); }

 private:
  Index wide() const { return maxout_ ? 2 * readout_units_ : readout_units_; }

  bool maxout_;
  Index readout_units_;
  std::unique_ptr<Attention> attention_;
  Linear start_;
  Gru gru_;
  Linear context_;
  Linear output_;
  Linear symbol_;
};
SOFTALIGN_DECODER("attentional_gru",
                  AttentionalGru,
                  "GRU that attends before each step (Bahdanau et al. 2015, appendix A)");

}  // namespace
}  // namespace softalign
