// Additive score: e_ij = v · tanh(W s_{i-1} + U h_j)   (Bahdanau et al. 2015, appendix A.1.2).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Additive final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("units", units, "alignment units n'; null: width of the state", between(1, kLargestLayer));
    }
  };

  Additive(const Parameters& p, ScoreSizes sizes, const Options& options)
      : Additive(p, sizes, options.units.value_or(sizes.query)) {}

  Memory prepare(Var annotations) const override { return {key_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    return additive_energy(memory.keys,
                           query_(query.state),
                           memory.keys.tape().parameter(*v_),
                           memory.lengths,
                           memory.begins);
  }

 private:
  Additive(const Parameters& p, ScoreSizes sizes, Index units)
      : query_(p, "query", sizes.query, units, Linear::Bias::no),
        key_(p, "key", sizes.annotation, units, Linear::Bias::yes),
        v_(p.add("v", {units}, init::glorot())) {}

  Linear query_;
  Linear key_;
  Parameter* v_;
};
SOFTALIGN_SCORE("additive", Additive, "v · tanh(W s + U h) (Bahdanau et al. 2015)");

}  // namespace
}  // namespace softalign
