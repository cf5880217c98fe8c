// Dot score: e_ij = s · h_j (Luong et al. 2015, equation 8). The state and the annotations must be
// of one size; where they are not (a bidirectional encoder), the annotations are projected to the
// state's size once per sentence.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Dot final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Dot(const Parameters& p, ScoreSizes sizes, const Options&)
      : match_(p, "project", sizes.annotation, sizes.query) {}

  Memory prepare(Var annotations) const override { return {match_(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, query.state, memory.lengths, memory.begins);
  }

 private:
  MatchedSize match_;
};
SOFTALIGN_SCORE("dot", Dot, "s · h (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
