// Cosine decay (Loshchilov and Hutter 2017, equation 5, without restarts), for the u updates made so far:
// least + (1 - least) (1 + cos(pi u / updates)) / 2,   and `least` after `updates`.
#include <algorithm>
#include <numbers>

#include "framework/base/elementary.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Cosine final : public Schedule {
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
  explicit Cosine(const Options& options) : options_(options) {}

  double factor(const TrainingPosition& position) const override {
    const double made = std::min(
        1.0, static_cast<double>(position.update - 1) / static_cast<double>(options_.updates));
    return options_.least + (1 - options_.least) * (1 + exact::cos(std::numbers::pi * made)) / 2;
  }

 private:
  Options options_;
};
SOFTALIGN_SCHEDULE("cosine", Cosine, "falls along half a cosine (Loshchilov and Hutter 2017)");

}  // namespace
}  // namespace softalign
