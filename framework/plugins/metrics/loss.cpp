// Teacher-forced cross-entropy of the reference, in nats per target token, </s> included.
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class Loss final : public Metric {
 public:
  using Options = NoOptions;
  explicit Loss(const Options&) {}

  MetricFacts about() const override {
    return {.title = "loss",
            .units = "nats",
            .higher_is_better = false,
            .most = kNoLimit,
            .order = 2,
            .main_of_numbers = true};
  }
  std::vector<CountColumn> columns() const override {
    return {columns::nll(), columns::target_tokens()};
  }
  double value(const Counts& counts) const override {
    return ratio(counts.sum("nll"), counts.sum("target_tokens"));
  }
};

SOFTALIGN_METRIC("loss", Loss, "teacher-forced cross-entropy, nats per target token");

}  // namespace softalign
