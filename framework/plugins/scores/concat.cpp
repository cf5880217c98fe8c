// Concat score: e_ij = v · tanh(W [s ; h_j]) (Luong et al. 2015, equation 8). Unlike `additive_concat` it
// has no bias; with `identity` the half of W for the annotations is the identity, as in the authors'
// experiments (their footnote on concat), and there are as many alignment units as numbers in an annotation.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Concat final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    bool identity = false;
    template <class V>
    void describe(V& v) {
      v("units",
        units,
        "rows of v; null: width of the state; not with identity",
        between(1, kLargestLayer));
      v("identity", identity, "v · tanh(W s + h): h is not multiplied");
      v.inactive(
          "units", identity, "with identity, v has as many rows as the annotation has numbers");
    }
  };

  Concat(const Parameters& p, ScoreSizes sizes, const Options& options)
      : Concat(p,
               sizes,
               options.identity ? sizes.annotation : options.units.value_or(sizes.query),
               options.identity) {}

  Memory prepare(Var annotations) const override {
    return {key_ ? (*key_)(annotations) : annotations};
  }
  Var score(const Memory& memory, const Query& query) const override {
    return additive_energy(memory.keys,
                           query_(query.state),
                           memory.keys.tape().parameter(*v_),
                           memory.lengths,
                           memory.begins);
  }

 private:
  Concat(const Parameters& p, ScoreSizes sizes, Index units, bool identity)
      : query_(p,
               "query",
               sizes.query,
               units,
               Linear::Bias::no,
               init::glorot_rows(sizes.query + sizes.annotation)),
        v_(p.add("v", {units}, init::glorot())) {
    if (!identity)
      key_.emplace(p,
                   "key",
                   sizes.annotation,
                   units,
                   Linear::Bias::no,
                   init::glorot_rows(sizes.query + sizes.annotation));
  }

  Linear query_;
  std::optional<Linear> key_;
  Parameter* v_;
};
SOFTALIGN_SCORE("concat", Concat, "v · tanh(W [s ; h]) (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
