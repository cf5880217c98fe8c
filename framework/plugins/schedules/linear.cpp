// Linear decay, for the u updates made so far: from 1 to `least` in `updates`, then constant.
#include <algorithm>

#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Linear final : public Schedule {
 public:
  struct Options {
    Index updates = 10000;
    double least = 0;
    template <class V>
    void describe(V& v) {
      v("updates", updates, "updates in which the rate falls", between(1, kMostUpdates));
      v("least", least, "factor at the end", qualify_name(between(0, 1)));
    }
  };
  explicit Linear(const Options& options) : options_(options) {}

  double factor(const TrainingPosition& position) const override {
    const double left = std::max(
        0.0, 1 - static_cast<double>(position.update - 1) / static_cast<double>(options_.updates));
    return options_.least + (1 - options_.least) * left;
  }

 private:
  Options options_;
};
SOFTALIGN_SCHEDULE("linear", Linear, "falls on a straight line");

}  // namespace
}  // namespace softalign
