// General score: e_ij = s · W h_j (Luong et al. 2015, equation 8). The query is projected, s W, one
// row for each step.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class General final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  General(const Parameters& p, ScoreSizes sizes, const Options&)
      : project_(p, "project", sizes.query, sizes.annotation, Linear::Bias::no) {}

  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, project_(query.state), memory.lengths, memory.begins);
  }

 private:
  Linear project_;
};
SOFTALIGN_SCORE("general", General, "s · W h (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
