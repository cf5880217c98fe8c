// Global attention over all source positions (Bahdanau et al. 2015, equations 5, 6):
//   a_i = softmax(e_i),   c_i = sum_j a_ij h_j,   e_ij the score's.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Global final : public ScoredAttention {
 public:
  struct Options {
    Choice score = score_choice();
    template <class V>
    void describe(V& v) {
      v("score", score, "score function e_ij = score(state, annotation)");
    }
  };

  Global(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options.score) {}

 private:
  Seen see(const Memory& memory, Var energies, const Query&) const override {
    return {softmax_prefix(energies, memory.lengths)};
  }
};
SOFTALIGN_ATTENTION("global",
                    Global,
                    "softmax over all source positions (Bahdanau et al. 2015, Luong et al. 2015)");

}  // namespace
}  // namespace softalign
