// Entmax attention: a softmax with exact zeros (Peters et al. 2019, equations 4 and 9):
//   a_ij = max(0, (alpha - 1) e_ij - t)^(1 / (alpha - 1)), t such that they sum to 1.
// alpha = 1 is the softmax of `global`, 2 is `sparsemax`; 1.5 is computed exactly from the sorted energies
// (algorithm 2), other values by bisection (algorithm 1). With `learned`, alpha = 1 + sigmoid(a) with one parameter a
// (Correia et al. 2019, section 3.2; a single alpha, not one for each head).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Entmax final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    double alpha = 1.5;
    bool learned = false;
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("alpha", alpha, "1: softmax, no zeros; 2: sparsemax, the most zeros", between(1, 2));
      v("learned", learned, "alpha is a parameter, and `alpha` its initial value");
      v.check("learned",
              !learned || (alpha > 1 && alpha < 2),
              "a learned alpha is never 1 or 2; give an initial `alpha` between them");
    }
  };

  Entmax(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options), alpha_(options.alpha) {
    if (options.learned)
      a_ = p.add("a", {1}, init::constant(exact::log((alpha_ - 1) / (2 - alpha_))));
  }

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery&) const override {
    if (a_ == nullptr) return {entmax_prefix(energies, alpha_, memory.lengths)};
    Tape& tape = energies.tape();
    Var share = sigmoid(by_sentence(tape.parameter(*a_), energies.shape()[0]));  // alpha - 1, [B,1]
    View ones = tape.allocate(share.shape());
    std::fill(ones.begin(), ones.end(), real{1});
    return {entmax_prefix(energies, share + tape.constant(ones), memory.lengths)};
  }

  double alpha_;
  Parameter* a_ = nullptr;
};
SOFTALIGN_ATTENTION("entmax",
                    Entmax,
                    "between softmax and sparsemax: exact zeros (Peters et al. 2019)");

}  // namespace
}  // namespace softalign
