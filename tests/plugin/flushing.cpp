// A plugin that changes the rounding mode when it is loaded, as -ffast-math does with some compilers.
#include <cfenv>

#include "framework/plugin.hpp"

namespace softalign {

class Flushing final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Flushing(const Parameters& p, ScoreSizes sizes, const Options&)
      : project_(p, "project", sizes.query, sizes.annotation) {}
  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    return batched_dot(memory.keys, project_(query.state), memory.lengths);
  }

 private:
  Linear project_;
};
SOFTALIGN_SCORE("flushing", Flushing, "computes in a mode of its own");

namespace {
[[maybe_unused]] const int mode = std::fesetround(FE_TOWARDZERO);
}

}  // namespace softalign
