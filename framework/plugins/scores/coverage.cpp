// Coverage score: e_ij = v · tanh(W s + U h_j + w c_ij + b), c_ij the sum of the weights of position j in all
// earlier steps (See et al. 2017, equation 11; Tu et al. 2016 with their linguistic coverage of fertility 1).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Coverage final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("units", units, "alignment units n'; null: width of the state", between(1, kLargestLayer));
    }
  };

  Coverage(const Parameters& p, ScoreSizes sizes, const Options& options)
      : Coverage(p, sizes, options.units.value_or(sizes.query)) {}

  Memory prepare(Var annotations) const override { return {key_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    Tape& tape = memory.keys.tape();
    return coverage_energy(memory.keys,
                           query_(query.state),
                           tape.parameter(*v_),
                           query.attended,
                           tape.parameter(*attended_),
                           memory.lengths,
                           memory.begins);
  }
  bool reads_attended() const override { return true; }

 private:
  Coverage(const Parameters& p, ScoreSizes sizes, Index units)
      : query_(p, "query", sizes.query, units, Linear::Bias::no),
        key_(p, "key", sizes.annotation, units, Linear::Bias::yes),
        attended_(p.add("coverage", {units}, init::glorot())),
        v_(p.add("v", {units}, init::glorot())) {}

  Linear query_;
  Linear key_;
  Parameter* attended_;
  Parameter* v_;
};
SOFTALIGN_SCORE("coverage",
                Coverage,
                "additive, with the weights of earlier steps (Tu et al. 2016, See et al. 2017)");

}  // namespace
}  // namespace softalign
