// Normed additive score: e_ij = g v/|v| · tanh(W s + U h_j + b), additive with a weight-normalised v
// (Salimans and Kingma 2016, equation 2), whose gain g is initially sqrt(1/n'), as in tensorflow/nmt.
#include <cmath>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class NormedAdditive final : public Score {
 public:
  struct Options {
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("units", units, "alignment units n'; null: width of the state", between(1, kLargestLayer));
    }
  };

  NormedAdditive(const Parameters& p, ScoreSizes sizes, const Options& options)
      : NormedAdditive(p, sizes, options.units.value_or(sizes.query)) {}

  Memory prepare(Var annotations) const override { return {key_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    Tape& tape = memory.keys.tape();
    const Index sentences = memory.keys.shape()[0];
    Var v = scale_by(normalize_last(by_sentence(tape.parameter(*v_), sentences)),
                     tape.parameter(*gain_));
    return additive_energy(memory.keys, query_(query.state), v, memory.lengths, memory.begins);
  }

 private:
  NormedAdditive(const Parameters& p, ScoreSizes sizes, Index units)
      : query_(p, "query", sizes.query, units, Linear::Bias::no),
        key_(p, "key", sizes.annotation, units, Linear::Bias::yes),
        v_(p.add("v", {units}, init::glorot())),
        gain_(p.add("g", {1}, init::constant(std::sqrt(1 / static_cast<double>(units))))) {}

  Linear query_;
  Linear key_;
  Parameter* v_;
  Parameter* gain_;
};
SOFTALIGN_SCORE("normed_additive",
                NormedAdditive,
                "g v/|v| · tanh(W s + U h + b) (Bahdanau et al. 2015; Salimans and Kingma 2016)");

}  // namespace
}  // namespace softalign
