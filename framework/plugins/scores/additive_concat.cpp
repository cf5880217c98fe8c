// Additive score of a concatenation: e_ij = v · tanh(W [s_{i-1} ; h_j] + b). It is `additive` with W =
// [W_s ; U_h], where the two halves of the product are computed separately: the annotations' half
// once per sentence, the state's half once per step. W is initialised as one matrix (Glorot and
// Bengio 2010, with the rows of both halves), which is the difference from `additive`.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class AdditiveConcat final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("units", units, "alignment units n'; null: width of the state", between(1, kLargestLayer));
    }
  };

  AdditiveConcat(const Parameters& p, ScoreSizes sizes, const Options& options)
      : AdditiveConcat(p, sizes, options.units.value_or(sizes.query)) {}

  Memory prepare(Var annotations) const override { return {key_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    return additive_energy(memory.keys,
                           query_(query.state),
                           memory.keys.tape().parameter(*v_),
                           memory.lengths,
                           memory.begins);
  }

 private:
  AdditiveConcat(const Parameters& p, ScoreSizes sizes, Index units)
      : query_(p, "query", sizes.query, units, Linear::Bias::no, of(sizes)),
        key_(p, "key", sizes.annotation, units, Linear::Bias::yes, of(sizes)),
        v_(p.add("v", {units}, init::glorot())) {}

  static Initializer of(ScoreSizes sizes) {
    return init::glorot_rows(sizes.query + sizes.annotation);
  }

  Linear query_;  // the upper rows of W
  Linear key_;    // the lower rows of W, and b
  Parameter* v_;
};
SOFTALIGN_SCORE("additive_concat", AdditiveConcat, "v · tanh(W [s ; h] + b): additive, one matrix");

}  // namespace
}  // namespace softalign
