// Dot score: e_ij = s · h_j (Luong et al. 2015, equation 8). It has no weights, so the state must be as wide
// as the annotations.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Dot final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Dot(const Parameters&, ScoreSizes sizes, const Options&) { sizes.common(); }

  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, query.state, memory.lengths, memory.begins);
  }
};
SOFTALIGN_SCORE("dot", Dot, "s · h (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
