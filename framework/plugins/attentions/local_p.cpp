// Local attention with a predicted window (Luong et al. 2015, section 3.2, local-p; equations 9, 10):
//   p_t = S sigmoid(v · tanh(W s)),   a_t(j) = softmax over [p_t - D, p_t + D] · exp(-(j - p_t)² / (2 σ²)),
// σ = D / 2, positions j from 0. The weights are not renormalised, as in the authors' code; p_t is trained only
// through the Gaussian. `centre: code` follows the authors' code: p_t = (S - 1) sigmoid(..), with the window around
// the integer part of p_t. All positions have energies, because p_t is computed after them.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class LocalPredictive final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    Options() { score = score_choice("general"); }
    Index window = 10;
    std::string centre = "paper";
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("window", window, "D: positions on either side of the centre", between(1, kLargestLayer));
      v("centre",
        centre,
        "paper: p = S sigmoid(..), the window is |j - p| <= D; code: p = (S - 1) sigmoid(..), the "
        "window is D around the integer part of p, as in the authors' code",
        one_of("paper", "code"));
    }
  };

  LocalPredictive(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options),
        window_(options.window),
        code_(options.centre == "code"),
        hidden_(p, "position", sizes.query, sizes.query, Linear::Bias::no),
        place_(p, "place", sizes.query, 1, Linear::Bias::no) {}

  bool weights_sum_to_one() const override { return false; }

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Tape& tape = energies.tape();
    const auto rows = std::ssize(memory.lengths);
    View sizes = tape.allocate({rows, 1});
    for (Index b = 0; b < rows; ++b)
      sizes.data[b] = static_cast<real>(memory.lengths[usize(b)] - (code_ ? 1 : 0));
    Var center = tape.constant(sizes) * sigmoid(place_(tanh(hidden_(query.state))));

    Index* begins = tape.arena().array_of<Index>(2 * rows);
    Index* ends = begins + rows;
    for (Index b = 0; b < rows; ++b) {
      const Index length = memory.lengths[usize(b)];
      const real exact = center.value().data[b];  // at least 0, or NaN
      const Index whole = exact > 0 ? static_cast<Index>(exact) : 0;
      const bool beyond = !code_ && exact > static_cast<real>(whole);  // p - D is not an integer
      begins[b] = std::clamp<Index>(whole - window_ + (beyond ? 1 : 0), 0, length - 1);
      ends[b] = std::clamp<Index>(whole + window_ + 1, begins[b] + 1, length);
    }
    const auto count = usize(rows);
    return {gaussian_window(softmax_prefix(energies, {ends, count}, {begins, count}),
                            center,
                            static_cast<real>(window_) / 2,
                            memory.lengths)};
  }

  Index window_;
  bool code_;
  Linear hidden_;
  Linear place_;
};
SOFTALIGN_ATTENTION("local_p",
                    LocalPredictive,
                    "softmax times a Gaussian around a predicted position (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
