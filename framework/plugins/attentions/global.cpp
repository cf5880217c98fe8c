// Global attention: the weights of all source positions, the context is their average (Bahdanau et
// al. 2015, equations 5, 6).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Global final : public Attention {
 public:
  struct Options {
    Choice score{.kind = "score", .type = "additive"};
    template <class V>
    void describe(V& v) {
      v("score", score, "score function e_ij = score(state, annotation)");
    }
  };

  Global(const Parameters& p, AttentionSizes sizes, const Options& options)
      : annotation_(sizes.annotation),
        score_(make_plugin<ScoreKind>(
            options.score, p / "score", ScoreSizes{sizes.query, sizes.annotation})) {}

  Memory prepare(const Annotations& annotations) const override {
    Memory memory = score_->prepare(annotations.states);
    if (!memory.values) memory.values = annotations.states;
    memory.lengths = annotations.lengths;
    return memory;
  }

  Glimpse attend(const Memory& memory, const Query& query) const override {
    // A score that leaves an array of the keys' size on the tape at every step is run again in
    // backward instead.
    const auto keep =
        static_cast<std::size_t>(memory.keys.value().size()) * sizeof(real) / 2 + 65536;
    Var energies =
        rematerialize<2>(memory.keys.tape(),
                         {memory.keys, query.state},
                         keep,
                         [this, lengths = memory.lengths, step = query.step](auto inputs) {
                           return score_->score({inputs[0], {}, lengths}, {inputs[1], step});
                         });
    Var weights = softmax_prefix(energies, memory.lengths);
    return {weighted_sum(weights, memory.values, memory.lengths), weights};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }

 private:
  Index annotation_;
  std::unique_ptr<Score> score_;
};
SOFTALIGN_ATTENTION("global",
                    Global,
                    "softmax over all source positions (Bahdanau et al. 2015, Luong et al. 2015)");

}  // namespace
}  // namespace softalign
