// Warm-up before any other schedule: min(1, update / updates) times the factor of `then`, which is evaluated
// at the same positions as without a warm-up.
#include <algorithm>

#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

class Warmup final : public Schedule {
 public:
  struct Options {
    Index updates = 1000;
    Choice then{.kind = "schedule", .type = "constant"};
    template <class V>
    void describe(V& v) {
      v("updates", updates, "updates in which the rate rises", between(1, kMostUpdates));
      v("then", then, "the schedule that applies on top of the warm-up");
      v.check("then", then.type != "warmup", "one warm-up is enough");
    }
  };
  explicit Warmup(const Options& options)
      : options_(options), then_(make_plugin<ScheduleKind>(options.then)) {}

  double factor(const TrainingPosition& position) const override {
    return std::min(1.0,
                    static_cast<double>(position.update) / static_cast<double>(options_.updates)) *
           then_->factor(position);
  }
  void evaluated(const MetricTable& dev) override { then_->evaluated(dev); }
  std::string watches() const override { return then_->watches(); }
  std::vector<double> state() const override { return then_->state(); }
  void restore(const std::vector<double>& state) override { then_->restore(state); }

 private:
  Options options_;
  std::unique_ptr<Schedule> then_;
};
SOFTALIGN_SCHEDULE("warmup", Warmup, "rises on a straight line to any other schedule");

}  // namespace
}  // namespace softalign
