// How often attention is strongest on a source position that the target token is surely linked to, of the target
// tokens that have a sure link. Where the largest weights tie, it is right when all of the tied positions are
// linked; a row that is even over all positions points nowhere and is wrong, as is one of zeros.
#include "framework/eval/metric.hpp"

namespace softalign {

class PointingAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit PointingAccuracy(const Options&) {}

  double value(Sentences sentences) const override {
    return percent(sentences, [](const SentenceResult& s) { return s.pointing; });
  }
  bool higher_is_better() const override { return true; }
};

SOFTALIGN_METRIC("pointing_accuracy",
                 PointingAccuracy,
                 "attention's argmax is a surely linked source token");

}  // namespace softalign
