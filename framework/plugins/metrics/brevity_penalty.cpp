// BLEU's factor for hypotheses that are too short (Papineni et al. 2002): min(1, exp(1 - r/c)), r and c tokens of all
// references and of all hypotheses.
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/text_metrics.hpp"

namespace softalign {

class BrevityPenalty final : public Metric {
 public:
  using Options = NoOptions;
  explicit BrevityPenalty(const Options&) {}

  MetricFacts about() const override {
    return {
        .title = "brevity penalty", .units = "1", .higher_is_better = {}, .most = 1, .order = 3};
  }
  std::vector<CountColumn> columns() const override { return {columns::bleu_stats()}; }
  double value(const Counts& counts) const override {
    const auto sums = counts.sums<std::tuple_size_v<BleuStats>>("bleu_stats");
    return sums[1] > 0 ? brevity_penalty(sums) : ratio(0, 0);
  }
};

SOFTALIGN_METRIC("brevity_penalty",
                 BrevityPenalty,
                 "BLEU's factor for hypotheses shorter than their references");

}  // namespace softalign
