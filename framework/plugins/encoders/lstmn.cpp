// LSTMN (Cheng et al. 2016, section 3.2): a forward LSTM that attends over all its earlier states instead of
// keeping only the previous one:
//   a_ti = v · tanh(W_h h_i + W_x x_t + W_s h~_{t-1}) for i < t,   s_t = softmax(a_t)
//   h~_t = sum_i s_ti h_i,   c~_t = sum_i s_ti c_i,   both 0 at the first step
//   i, f, o = sigmoid(W x_t + U h~_t + b),   g = tanh(W x_t + U h~_t + b), each with its own W, U, b
//   c_t = f c~_t + i g,   h_t = o tanh(c_t)
// Its attention has as many units as its states; annotation t is h_t. values: cells lets contexts average c_t, the
// memory tape that decoder lstmn with fusion: deep reads (section 4).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class LstmnEncoder final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    double forget_bias = Lstm::kForgetBias;
    std::optional<std::string> values;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units, also of the intra-attention", between(1, kLargestLayer));
      describe_forget_bias(v, forget_bias);
      v("values",
        values,
        "vectors that contexts average: states, or cells, as decoder lstmn with fusion: deep reads "
        "them (paper, section 4); null: states",
        one_of("states", "cells"));
    }
  };

  LstmnEncoder(const Parameters& p, Index embedding, const Options& options)
      : units_(options.units),
        gives_cells_(options.values == "cells"),
        cell_(p / "forward", embedding, units_, options.forget_bias),
        query_(p / "intra", "input", embedding, units_, Linear::Bias::no),
        state_((p / "intra").add("W_state", {units_, units_}, init::glorot())),
        summary_((p / "intra").add("W_summary", {units_, units_}, init::glorot())),
        v_((p / "intra").add("v", {units_}, init::glorot())) {}

  Annotations encode(const EncoderInput& source) const override {
    Tape& tape = source.embedded.tape();
    View weights;
    const auto [h, c] = lstmn_sequence(cell_.inputs(source.embedded),
                                       query_(source.embedded),
                                       cell_.recurrent(tape),
                                       tape.parameter(*state_),
                                       tape.parameter(*summary_),
                                       tape.parameter(*v_),
                                       source.lengths,
                                       source.heads != nullptr ? &weights : nullptr);
    if (weights) source.heads->add(0, 0, weights);
    Var last = select_last_valid(h, source.lengths);
    Annotations result{h, last, last, source.lengths, {last, select_last_valid(c, source.lengths)}};
    if (gives_cells_) result.values = c;
    return result;
  }
  Index size() const override { return units_; }
  Index start_size() const override { return units_; }
  bool attends() const override { return true; }
  std::vector<Index> final_sizes() const override { return {units_, units_}; }

 private:
  Index units_;
  bool gives_cells_;
  Lstm cell_;
  Linear query_;
  Parameter* state_;
  Parameter* summary_;
  Parameter* v_;
};
SOFTALIGN_ENCODER("lstmn",
                  LstmnEncoder,
                  "LSTM with intra-attention over its own past (Cheng et al. 2016)");

}  // namespace
}  // namespace softalign
