// The learning rate is constant.
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Constant final : public Schedule {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  explicit Constant(const Options&) {}
  double factor(const TrainingPosition&) const override { return 1; }
};
SOFTALIGN_SCHEDULE("constant", Constant, "the learning rate as the optimiser has it");

}  // namespace
}  // namespace softalign
