// Location score: e_i = W s, one energy for each source position, independent of its annotation (Luong et
// al. 2015, section 3.1). W has `positions` columns: a shorter sentence uses the first columns, and
// positions beyond them in a longer sentence have weight 0 ("we ignore words near the end").
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Location final : public Score {
 public:
  struct Options {
    Index positions = 50;
    template <class V>
    void describe(V& v) {
      v("positions",
        positions,
        "number of source positions with energies, including </s>",
        between(1, kLargestLayer));
    }
  };

  Location(const Parameters& p, ScoreSizes sizes, const Options& options)
      : positions_(options.positions),
        energies_(p, "location", sizes.query, options.positions, Linear::Bias::no) {}

  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    Var energies = energies_(query.state);
    const Index sentences = memory.keys.shape()[0], there = memory.keys.shape()[1];
    if (there <= positions_) return slice_last(energies, 0, there);
    Tape& tape = energies.tape();
    return concat_last(energies, tape.constant(tape.zeros({sentences, there - positions_})));
  }
  bool permutable() const override { return false; }
  Index reach() const override { return positions_; }

 private:
  Index positions_;
  Linear energies_;
};
SOFTALIGN_SCORE("location", Location, "W s, by position alone (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
