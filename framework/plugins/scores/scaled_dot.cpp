// Scaled dot score: e_ij = s · h_j / sqrt(d), d the size of both (Vaswani et al. 2017, equation 1, one
// head): the variance of s · h grows with d, and a softmax of large energies has no gradient. Sizes that
// differ are made equal as in `dot`.
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

  ScaledDot(const Parameters& p, ScoreSizes sizes, const Options&)
      : match_(p, "project", sizes.annotation, sizes.query),
        scale_(static_cast<real>(1 / std::sqrt(static_cast<double>(sizes.query)))) {}

  Memory prepare(Var annotations) const override { return {match_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, scale_ * query.state, memory.lengths, memory.begins);
  }

 private:
  MatchedSize match_;
  real scale_;
};
SOFTALIGN_SCORE("scaled_dot", ScaledDot, "s · h / sqrt(d) (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
