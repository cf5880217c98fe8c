// A score as of an older softalign: its kind has the same name as ours, but other constructor
// arguments.
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
