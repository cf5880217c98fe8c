// The exponential of the loss: the number of equally likely tokens with the same uncertainty.
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class Perplexity final : public Metric {
 public:
  using Options = NoOptions;
  explicit Perplexity(const Options&) {}

  MetricFacts about() const override {
    return {.title = "perplexity",
            .units = "1",
            .higher_is_better = false,
            .least = 1,
            .most = kNoLimit,
            .order = 1,
            .main = true};
  }
  std::vector<CountColumn> columns() const override {
    return {columns::nll(), columns::target_tokens()};
  }
  double value(const Counts& counts) const override {
    return exact::exp(ratio(counts.sum("nll"), counts.sum("target_tokens")));
  }
};

SOFTALIGN_METRIC("perplexity", Perplexity, "exp of the loss per target token");

}  // namespace softalign
