// Uniform attention, a control: every source position has the same weight at every step, so the context
// is the mean of the annotations. If a model with learned weights does better, the reason is the alignment.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Uniform final : public Attention {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Uniform(const Parameters&, AttentionSizes sizes, const Options&)
      : annotation_(sizes.annotation) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{annotations.averaged(), {}, annotations.lengths};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery&) const override {
    Tape& tape = memory.keys.tape();
    const Index positions = memory.keys.shape()[1];
    View weights = tape.zeros({memory.keys.shape()[0], positions});
    real* row = weights.data;
    for (const Index length : memory.lengths) {
      std::fill_n(row, length, 1 / static_cast<real>(length));
      row += positions;
    }
    Var same = tape.constant(weights);
    return {weighted_sum(same, memory.keys, memory.lengths), same};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }
  bool weights_are_learned() const override { return false; }

 private:
  Index annotation_;
};
SOFTALIGN_ATTENTION("uniform", Uniform, "control: the mean of the annotations at every step");

}  // namespace
}  // namespace softalign
