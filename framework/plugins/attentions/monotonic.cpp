// Monotonic attention (Raffel et al. 2017). A pointer moves right from its previous position and stops
// at position j with probability p_ij = sigmoid(e_ij + r). In training the weights are the
// probabilities of the position where it stops (equation 9), with Gaussian noise on the energies that
// drives p towards 0 and 1 (section 2.4); at test it stops at the first j with p_ij > 1/2 (algorithm
// 1). If it does not stop, the weights of this and all later steps are 0.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Monotonic final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options, MonotonicPointer::Options {
    Options() { score = score_choice("normed_additive"); }
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      MonotonicPointer::Options::describe(v);
    }
  };

  Monotonic(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options), pointer_(p, options) {}

  bool weights_sum_to_one() const override { return false; }

 private:
  State own_start(const AttentionMemory& memory) const override { return {pointer_.start(memory)}; }

  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Var weights = pointer_.move(energies, query.past[0], memory.lengths, query.step);
    return {weights, {weights}};
  }

  MonotonicPointer pointer_;
};
SOFTALIGN_ATTENTION(
    "monotonic",
    Monotonic,
    "a pointer that only moves right: expected in training, hard at test (Raffel et al. "
    "2017)");

}  // namespace
}  // namespace softalign
