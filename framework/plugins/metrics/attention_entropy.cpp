// The spread of attention: -sum_j w_j ln w_j, averaged over target steps; 0: all on one position.
// Neither extreme is good in itself; the lower value counts as better.
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class AttentionEntropy final : public Metric {
 public:
  using Options = NoOptions;
  explicit AttentionEntropy(const Options&) {}

  MetricFacts about() const override {
    return {.title = "attention entropy",
            .units = "nats",
            .higher_is_better = false,
            .most = kNoLimit,
            .order = 6};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "attention_entropy",
             .long_name = "nats, summed over target steps",
             .source = CountSource::attention,
             .count = sum_entropy,
             .stored = CountColumn::Stored::float64,
             .units = "nats"},
            {.name = "attention_steps",
             .long_name = "target steps with attention",
             .source = CountSource::attention,
             .count = [](const EvaluatedSentence& sentence, std::span<double> to) {
               to[0] = static_cast<double>(sentence.attention->steps);
             }}};
  }
  double value(const Counts& counts) const override {
    return ratio(counts.sum("attention_entropy"), counts.sum("attention_steps"));
  }

 private:
  static void sum_entropy(const EvaluatedSentence& sentence, std::span<double> sum) {
    sum[0] = 0;
    for (Index t = 0; t < sentence.attention->steps; ++t)
      sum[0] += entropy(row_of(*sentence.attention, t));
  }
};

SOFTALIGN_METRIC("attention_entropy",
                 AttentionEntropy,
                 "mean entropy of the attention weights, nats per target step");

}  // namespace softalign
