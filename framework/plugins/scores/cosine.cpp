// Cosine score: e_ij = β cos(s, h_j), β the key strength (Graves et al. 2014, equations 5, 6, where the
// network emits it; here it is one number, learned or fixed). Without β energies are in [-1, 1], and
// their softmax is nearly flat. As in `dot`, the state must be as wide as the annotations.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Cosine final : public Score {
 public:
  struct Options {
    double scale = 8;
    bool learned = true;
    template <class V>
    void describe(V& v) {
      v("scale", scale, "β, or its initial value", qualify_name(positive()));
      v("learned", learned, "false: β is constant");
    }
  };

  Cosine(const Parameters& p, ScoreSizes sizes, const Options& options)
      : scale_(static_cast<real>(options.scale)),
        learned_(options.learned ? p.add("scale", {1}, init::constant(options.scale)) : nullptr) {
    sizes.common();
  }

  Memory prepare(Var annotations) const override { return {normalize_last(annotations)}; }
  Var score(const Memory& memory, const Query& query) const override {
    Var direction = normalize_last(query.state);
    return batched_dot(memory.keys,
                       learned_ != nullptr
                           ? scale_by(direction, direction.tape().parameter(*learned_))
                           : scale_ * direction,
                       memory.lengths,
                       memory.begins);
  }

 private:
  real scale_;
  Parameter* learned_;
};
SOFTALIGN_SCORE("cosine", Cosine, "β cos(s, h) (Graves et al. 2014)");

}  // namespace
}  // namespace softalign
