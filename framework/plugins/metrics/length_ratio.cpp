// Tokens of all hypotheses / tokens of all references: c / r of BLEU, whose brevity penalty punishes ratios below 1.
// The best value is 1.
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/text_metrics.hpp"

namespace softalign {

class LengthRatio final : public Metric {
 public:
  using Options = NoOptions;
  explicit LengthRatio(const Options&) {}

  MetricFacts about() const override {
    return {.title = "length ratio",
            .units = "1",
            .higher_is_better = {},
            .most = kNoLimit,
            .order = 2,
            .main = true};
  }
  std::vector<CountColumn> columns() const override { return {columns::bleu_stats()}; }
  double value(const Counts& counts) const override {
    const auto sums = counts.sums<std::tuple_size_v<BleuStats>>("bleu_stats");
    return ratio(sums[0], sums[1]);
  }
};

SOFTALIGN_METRIC("length_ratio", LengthRatio, "tokens of the hypotheses / those of the references");

}  // namespace softalign
