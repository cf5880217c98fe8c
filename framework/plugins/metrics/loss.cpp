// Cross-entropy of the reference, fed to the decoder: nats per target token, </s> counted.
#include "framework/eval/metric.hpp"

namespace softalign {

class Loss final : public Metric {
 public:
  using Options = NoOptions;
  explicit Loss(const Options&) {}

  double value(Sentences sentences) const override {
    double nll = 0;
    Index tokens = 0;
    for (const SentenceResult* sentence : sentences) {
      nll += sentence->nll;
      tokens += sentence->teacher_forced.total;
    }
    return ratio(nll, tokens);
  }
  bool higher_is_better() const override { return false; }
  std::string units() const override { return "nats"; }
};

SOFTALIGN_METRIC("loss", Loss, "teacher-forced cross-entropy, nats per target token");

}  // namespace softalign
