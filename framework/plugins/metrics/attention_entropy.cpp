// How widely attention is spread: -sum_j w_j ln w_j, averaged over target steps; 0 points at one position.
// Neither end is good in itself; the sharper one counts as better.
#include "framework/eval/metric.hpp"

namespace softalign {

class AttentionEntropy final : public Metric {
 public:
  using Options = NoOptions;
  explicit AttentionEntropy(const Options&) {}

  double value(Sentences sentences) const override {
    double sum = 0;
    Index steps = 0;
    for (const SentenceResult* sentence : sentences) {
      sum += sentence->attention_entropy;
      steps += sentence->attention_steps;
    }
    return ratio(sum, steps);
  }
  bool higher_is_better() const override { return false; }
  std::string units() const override { return "nats"; }
};

SOFTALIGN_METRIC("attention_entropy",
                 AttentionEntropy,
                 "mean entropy of the attention weights, nats per target step");

}  // namespace softalign
