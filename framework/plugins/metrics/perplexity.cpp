// The exponential of the loss: among how many equally likely tokens the model hesitates.
#include <cmath>

#include "framework/eval/metric.hpp"

namespace softalign {

class Perplexity final : public Metric {
 public:
  using Options = NoOptions;
  explicit Perplexity(const Options&) {}

  double value(Sentences sentences) const override {
    double nll = 0;
    Index tokens = 0;
    for (const SentenceResult* sentence : sentences) {
      nll += sentence->nll;
      tokens += sentence->teacher_forced.total;
    }
    return std::exp(ratio(nll, tokens));
  }
  bool higher_is_better() const override { return false; }
  std::string units() const override { return "1"; }
};

SOFTALIGN_METRIC("perplexity", Perplexity, "exp of the loss per target token");

}  // namespace softalign
