// A score as an older softalign might have had it: its kind has the name of ours, and is made from
// something else.
#include "framework/plugin.hpp"

namespace softalign {

struct OlderScore {
  virtual ~OlderScore() = default;
};
struct OlderScoreKind {
  static constexpr const char* name = "score";
  using Make = std::unique_ptr<OlderScore>(Index);
};

namespace {

struct Mistaken final : OlderScore {
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Mistaken(Index, const Options&) {}
};
SOFTALIGN_PLUGIN(OlderScoreKind, "mistaken", Mistaken, "made from a number");

}  // namespace
}  // namespace softalign
