// Concat score: e_ij = v · tanh(W [s ; h_j]) (Luong et al. 2015, equation 8). Unlike `additive_concat` it
// has no bias; with `identity` the half of W for the annotations is the identity, as in the authors'
// experiments (their footnote on concat), and the alignment units are as many as an annotation has.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Concat final : public Score {
 public:
  struct Options {
    Index units = 256;
    bool identity = false;
    template <class V>
    void describe(V& v) {
      v("units", units, "rows of v; not with identity", between(1, kLargestLayer));
      v("identity", identity, "v · tanh(W s + h): h is not multiplied");
      v.unread("units", identity, "with identity, v has a row for each of the annotation's");
    }
  };

  Concat(const Parameters& p, ScoreSizes sizes, const Options& options)
      : query_(p,
               "query",
               sizes.query,
               options.identity ? sizes.annotation : options.units,
               Linear::Bias::no,
               init::glorot_rows(sizes.query + sizes.annotation)),
        v_(p.add("v", {options.identity ? sizes.annotation : options.units}, init::glorot())) {
    if (!options.identity)
      key_.emplace(p,
                   "key",
                   sizes.annotation,
                   options.units,
                   Linear::Bias::no,
                   init::glorot_rows(sizes.query + sizes.annotation));
  }

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
  Linear query_;
  std::optional<Linear> key_;
  Parameter* v_;
};
SOFTALIGN_SCORE("concat", Concat, "v · tanh(W [s ; h]) (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
