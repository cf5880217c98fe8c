// Reduction on a plateau: the rate is multiplied by `factor` whenever a dev metric has had no new best
// for more than `patience` evaluations; then the count restarts.
#include <algorithm>

#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Plateau final : public Schedule {
 public:
  struct Options {
    std::string metric = "dev/loss";
    double factor = 0.5;
    Index patience = 0;
    double least = 0;
    template <class V>
    void describe(V& v) {
      v("metric", metric, "dev metric to watch, \"dev/\" and the name of a metric", qualify_name());
      v("factor", factor, "factor on the rate", qualify_name(positive_up_to(1)));
      v("patience",
        patience,
        "number of dev evaluations without a new best before the rate falls",
        qualify_name(between(0, kMostEpochs)));
      v("least", least, "smallest factor on the optimiser's rate", qualify_name(between(0, 1)));
    }
  };
  explicit Plateau(const Options& options)
      : options_(options), metric_("train.schedule.metric", options.metric) {}

  double factor(const TrainingPosition&) const override { return factor_; }
  void evaluated(const MetricTable& dev) override {
    const double value = metric_.value(dev);
    if (!any_ || metric_.better(value, best_)) {
      any_ = true;
      best_ = value;
      since_ = 0;
    } else if (++since_ > options_.patience) {
      factor_ = std::max(options_.least, factor_ * options_.factor);
      since_ = 0;
    }
  }
  std::string watches() const override { return options_.metric; }
  std::vector<double> state() const override {
    return {any_ ? 1.0 : 0.0, best_, static_cast<double>(since_), factor_};
  }
  void restore(const std::vector<double>& state) override {
    if (state.size() != 4 || !(state[2] >= 0 && state[2] <= static_cast<double>(kMostEpochs)))
      throw DataError("the checkpoint has an invalid state of schedule 'plateau'");
    any_ = state.at(0) != 0;
    best_ = state.at(1);
    since_ = static_cast<Index>(state.at(2));
    factor_ = state.at(3);
  }

 private:
  Options options_;
  WatchedMetric metric_;
  bool any_ = false;
  double best_ = 0;
  Index since_ = 0;  // evaluations without a new best
  double factor_ = 1;
};
SOFTALIGN_SCHEDULE("plateau", Plateau, "falls whenever a dev metric stops improving");

}  // namespace
}  // namespace softalign
