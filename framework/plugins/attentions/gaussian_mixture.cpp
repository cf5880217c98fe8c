// A window of K Gaussian functions that move along the source (Graves 2013, section 5.1; equations 46 to 51):
//   phi(t, u) = sum_k α_tk exp(-β_tk (κ_tk - u)²),   context = sum_u phi(t, u) h_u
//   (α^, β^, κ^) = W s + b,   α = exp(α^),   β = exp(β^),   κ_t = κ_{t-1} + exp(κ^)
// Positions u count from 1, as in the paper, which does not define κ_0; here κ_0 = 0. phi is not normalised, so the
// weights of a step may have any sum, even above 1. The annotations are not compared with the state.
// `normalised` makes phi a mixture of densities, α = softmax(α^) sqrt(β / pi), as in Battenberg et al. 2020
// (variant V1, with β = 1 / (2 σ²)): its integral is 1, and its sum over the positions is close to 1, except at the
// ends of a sentence and for narrow functions.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class GaussianMixtureAttention final : public Attention {
 public:
  struct Options {
    Index components = 10;
    bool normalised = false;
    double step = 1;
    template <class V>
    void describe(V& v) {
      v("components", components, "K: number of Gaussian functions", between(1, 1000));
      v("normalised",
        normalised,
        "the functions are densities whose shares sum to 1 (Battenberg et al. 2020); false: as in "
        "the paper");
      v("step",
        step,
        "positions that the functions move at each target symbol when training begins: exp of the "
        "bias of κ^",
        positive());
    }
  };

  GaussianMixtureAttention(const Parameters& p, AttentionSizes sizes, const Options& options)
      : components_(options.components),
        normalised_(options.normalised),
        annotation_(sizes.annotation),
        window_(p,
                "window",
                sizes.query,
                3 * options.components,
                Linear::Bias::yes,
                init::glorot(3),
                init::blocks({0, 0, exact::log(options.step)})) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{{}, annotations.averaged(), annotations.lengths};
  }
  State start(const AttentionMemory& memory) const override {
    Tape& tape = memory.values.tape();
    return {tape.constant(tape.zeros({memory.values.shape()[0], components_}))};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    const auto part = [this, all = window_(query.state)](Index index) {
      return slice_last(all, index * components_, components_);
    };
    Var sharpness = exp(part(1)), centers = query.past[0] + exp(part(2));
    Var heights = normalised_ ? densities(part(0), part(1)) : exp(part(0));
    Var weights =
        gaussian_mixture(heights, sharpness, centers, memory.values.shape()[1], memory.lengths);
    Var averaged = changed_weights(memory.inspection, weights, memory.lengths, query.step);
    return {weighted_sum(averaged, memory.values, memory.lengths), weights, {centers}};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }
  bool weights_sum_to_one() const override { return false; }
  bool weights_can_change() const override { return true; }

 private:
  // softmax(shares) sqrt(β / pi), with sqrt(β) = exp(β^ / 2)
  static Var densities(Var shares, Var sharpness) {
    constexpr real kOneBySqrtPi = real(0.56418958354775628695);
    const Index rows = shares.shape()[0];
    Index* all = shares.tape().arena().array_of<Index>(rows);
    std::fill_n(all, rows, shares.shape()[1]);
    return softmax_prefix(shares, {all, usize(rows)}) * (kOneBySqrtPi * exp(real{0.5} * sharpness));
  }

  Index components_;
  bool normalised_;
  Index annotation_;
  Linear window_;  // computes α^, β^ and κ^ side by side
};
SOFTALIGN_ATTENTION("gaussian_mixture",
                    GaussianMixtureAttention,
                    "a window of Gaussian functions that only moves right (Graves 2013)");

}  // namespace
}  // namespace softalign
