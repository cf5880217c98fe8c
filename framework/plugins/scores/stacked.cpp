// Stacked score: e_ij = v · tanh([W s ; U h_j]), where [;] concatenates two vectors, as some tutorials write the
// additive score. With v = [v_s ; v_h] it is v_s · tanh(W s) + v_h · tanh(U h_j): the state's term is the same at all
// positions, so the softmax weights do not depend on the state. A control for scores that compare state and annotation.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Stacked final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("units",
        units,
        "units of each half; null: width of the state; the softmax weights do not depend on the "
        "state",
        between(1, kLargestLayer));
    }
  };

  Stacked(const Parameters& p, ScoreSizes sizes, const Options& options)
      : Stacked(p, sizes, options.units.value_or(sizes.query)) {}

  // [B,S,2]: the annotation's term of the energy, and 1, which is multiplied by the state's term.
  Memory prepare(Var annotations) const override {
    Var part = annotation_v_(tanh(annotation_(annotations)));
    return {concat_last(part, ones(part))};
  }
  Var score(const Memory& memory, const Query& query) const override {
    Var part = state_v_(tanh(state_(query.state)));
    return batched_dot(memory.keys, concat_last(ones(part), part), memory.lengths, memory.begins);
  }

 private:
  Stacked(const Parameters& p, ScoreSizes sizes, Index units)
      : state_(p, "query", sizes.query, units, Linear::Bias::no),
        annotation_(p, "key", sizes.annotation, units, Linear::Bias::no),
        state_v_(p, "query_v", units, 1, Linear::Bias::no, init::glorot_rows(2 * units)),
        annotation_v_(p, "key_v", units, 1, Linear::Bias::no, init::glorot_rows(2 * units)) {}

  static Var ones(Var like) {
    View all = like.tape().allocate(like.shape());
    std::fill(all.begin(), all.end(), real{1});
    return like.tape().constant(all);
  }

  Linear state_;       // W
  Linear annotation_;  // U
  Linear state_v_;     // the upper half of v
  Linear annotation_v_;
};
SOFTALIGN_SCORE("stacked",
                Stacked,
                "control: v · tanh([W s ; U h]), weights that do not depend on the state");

}  // namespace
}  // namespace softalign
