// Exponential decay: decay^(u / every) for the u updates made so far after `after`.
#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Exponential final : public Schedule {
 public:
  struct Options {
    double decay = 0.5;
    Index every = 10000;
    Index after = 0;
    bool stairs = false;
    template <class V>
    void describe(V& v) {
      v("decay", decay, "factor for `every` updates", qualify_name(positive_up_to(1)));
      v("every",
        every,
        "updates in which the rate falls by `decay`",
        qualify_name(between(1, kMostUpdates)));
      v("after", after, "updates before it begins to fall", qualify_name(between(0, kMostUpdates)));
      v("stairs", stairs, "true: it falls at once at the end of each `every` updates");
    }
  };
  explicit Exponential(const Options& options) : options_(options) {}

  double factor(const TrainingPosition& position) const override {
    const Index made = std::max<Index>(0, position.update - 1 - options_.after);
    const double falls = static_cast<double>(made) / static_cast<double>(options_.every);
    return exact::pow(options_.decay, options_.stairs ? std::floor(falls) : falls);
  }

 private:
  Options options_;
};
SOFTALIGN_SCHEDULE("exponential", Exponential, "exponential decay, smooth or in steps");

}  // namespace
}  // namespace softalign
