// Warm-up and decay of the Transformer (Vaswani et al. 2017, equation 3):
//   size^-1/2 min(update^-1/2, update warmup^-3/2),   to be used with an optimiser's rate of 1.
#include <algorithm>
#include <cmath>

#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Noam final : public Schedule {
 public:
  struct Options {
    Index size = 512;
    Index warmup = 4000;
    template <class V>
    void describe(V& v) {
      v("size", size, "width of the model's layers, d_model", between(1, kLargestLayer));
      v("warmup", warmup, "updates in which the rate rises", between(1, kMostUpdates));
    }
  };
  explicit Noam(const Options& options) : options_(options) {}

  double factor(const TrainingPosition& position) const override {
    const double update = static_cast<double>(position.update),
                 warmup = static_cast<double>(options_.warmup);
    return std::min(1 / std::sqrt(update), update / (warmup * std::sqrt(warmup))) /
           std::sqrt(static_cast<double>(options_.size));
  }

 private:
  Options options_;
};
SOFTALIGN_SCHEDULE("noam",
                   Noam,
                   "rises, then falls with the root of the updates (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
