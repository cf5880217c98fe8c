// Scaled dot score: e_ij = s · h_j / sqrt(d), d the width of both (Vaswani et al. 2017, equation 1, one
// head): the variance of s · h grows with d, and a softmax of large energies has no gradient. Like `dot`, it has
// no weights.
#include <cmath>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class ScaledDot final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  ScaledDot(const Parameters&, ScoreSizes sizes, const Options&)
      : scale_(static_cast<real>(1 / std::sqrt(static_cast<double>(sizes.common())))) {}

  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, scale_ * query.state, memory.lengths, memory.begins);
  }

 private:
  real scale_;
};
SOFTALIGN_SCORE("scaled_dot", ScaledDot, "s · h / sqrt(d) (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
