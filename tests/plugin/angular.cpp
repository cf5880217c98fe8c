// Angular score: e_bs = gain * cos(W q_b, h_bs). A plugin as users write it, which is loaded with
// --plugin and not part of the framework.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Angular final : public Score {
 public:
  struct Options {
    real gain = 8;
    template <class V>
    void describe(V& v) {
      v("gain", gain, "factor on the cosine before the softmax", positive());
    }
  };

  Angular(const Parameters& p, ScoreSizes sizes, const Options& options)
      : gain_(options.gain),
        project_(p, "project", sizes.query, sizes.annotation, Linear::Bias::no) {}

  Memory prepare(Var annotations) const override { return {normalize_last(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    return gain_ * batched_dot(memory.keys, normalize_last(project_(query.state)), memory.lengths);
  }

 private:
  real gain_;
  Linear project_;
};
SOFTALIGN_SCORE("angular", Angular, "scaled cosine similarity");

}  // namespace
}  // namespace softalign
