// Halving of Luong et al. 2015, section 4.1: after 5 epochs (8 with dropout) the rate is halved every
// epoch. The first halving is at the end of epoch `epochs`, as in the authors' code, which
// can also halve after each fraction of an epoch.
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class HalveAfter final : public Schedule {
 public:
  struct Options {
    double epochs = 5;
    double every = 1;
    double factor = 0.5;
    template <class V>
    void describe(V& v) {
      v("epochs",
        epochs,
        "epochs before the first halving; may be a fraction",
        between(0, kMostEpochs));
      v("every",
        every,
        "epochs between two halvings; may be a fraction",
        qualify_name(positive_up_to(kMostEpochs)));
      v("factor", factor, "factor on the rate", qualify_name(positive_up_to(1)));
    }
  };
  explicit HalveAfter(const Options& options) : options_(options) {}

  double factor(const TrainingPosition& position) const override {
    const double behind = position.epochs() - options_.epochs;
    return behind < 0 ? 1 : exact::pow(options_.factor, 1 + std::floor(behind / options_.every));
  }

 private:
  Options options_;
};
SOFTALIGN_SCHEDULE("halve_after",
                   HalveAfter,
                   "halved every epoch after the first few (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
