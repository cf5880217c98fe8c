// The smallest plugin with an option: registered by being loaded.
#include "probe.hpp"

namespace softalign {

class Doubling final : public Probe {
 public:
  struct Options {
    Index factor = 2;
    template <class V>
    void describe(V& v) {
      v("factor", factor, "what the number is multiplied by");
    }
  };
  Doubling(Index number, const Options& options) : answer_(number * options.factor) {}
  Index answer() const override { return answer_; }

 private:
  Index answer_;
};
SOFTALIGN_PLUGIN(ProbeKind, "doubling", Doubling, "multiplies a number");

}  // namespace softalign
