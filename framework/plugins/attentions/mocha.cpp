// Monotonic chunkwise attention (Chiu and Raffel 2018): the pointer of `monotonic` selects the last of w positions,
// over which a softmax is computed from the energies u_ij of `chunk_score`:
//   at test (section 2.4): it stops at t, and b_ij = exp(u_ij) / sum over l in (t - w, t] of exp(u_il), j in (t - w, t];
//   in training the expectation of these weights (section 2.5, beta in the paper):
//     b_ij = sum over k in [j, j + w) of a_ik exp(u_ij) / sum over l in (k - w, k] of exp(u_il),
// a_ik the probability that the pointer stops at k. The next step starts where the pointer stopped. With w = 1 it
// is `monotonic`. If the pointer does not stop, the weights of this and all later steps are 0.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Mocha final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options, MonotonicPointer::Options {
    Choice chunk_score = score_choice();
    Index chunk = 2;
    Options() { score = score_choice("normed_additive"); }
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("chunk_score", chunk_score, "score function of the energies u within a chunk");
      v("chunk", chunk, "w: positions of a chunk", between(1, kLargestLayer));
      MonotonicPointer::Options::describe(v);
    }
  };

  Mocha(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options),
        pointer_(p, options),
        chunk_score_(make_plugin<ScoreKind>(
            options.chunk_score, p / "chunk_score", ScoreSizes{sizes.query, sizes.annotation})),
        chunk_(options.chunk) {
    if (chunk_score_->reads_attended() ||
        chunk_score_->reach() != std::numeric_limits<Index>::max())
      throw SpecError(
          "model.attention.chunk_score: {} reads earlier weights or has a fixed number of "
          "positions, which chunks "
          "do "
          "not support; choose another score",
          options.chunk_score.type);
  }

  bool weights_sum_to_one() const override { return false; }

 private:
  // The pointer, and the keys of chunk_score, which do not change.
  State own_start(const AttentionMemory& memory) const override {
    return {pointer_.start(memory), chunk_score_->prepare(memory.states).keys};
  }

  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Var ends = pointer_.move(energies, query.past[0], memory.lengths, query.step);
    Var keys = query.past[1];
    Var within = ScoredAttention::energies(
        *chunk_score_, {keys, {}, memory.lengths}, {query.state, query.step});
    return {chunk_prefix(ends, within, chunk_, memory.lengths), {ends, keys}};
  }

  MonotonicPointer pointer_;
  std::unique_ptr<Score> chunk_score_;
  Index chunk_;
};
SOFTALIGN_ATTENTION("mocha",
                    Mocha,
                    "softmax over a chunk that ends at a monotonic pointer (Chiu and Raffel 2018)");

}  // namespace
}  // namespace softalign
