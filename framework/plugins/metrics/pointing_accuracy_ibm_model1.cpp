// Pointing accuracy of IBM Model 1 (Brown et al. 1993), trained on the training pairs: the baseline for
// that of attention. Enabled by evaluate.baselines. Ties and uniform rows count as for attention.
#include "framework/eval/attention_diagnostics.hpp"

namespace softalign {

class PointingAccuracyIbmModel1 final : public PointingMetric {
 public:
  explicit PointingAccuracyIbmModel1(const Options&)
      : PointingMetric(
            column<ibm_model1_links, &Count::hits>(
                "ibm_model1_hits", "sure links that IBM Model 1 hits", CountSource::baseline),
            column<ibm_model1_links, &Count::total>(
                "ibm_model1_tokens", "target tokens with a sure link", CountSource::baseline)) {}
  MetricFacts about() const override {
    return {.title = "pointing accuracy of IBM Model 1",
            .order = 5,
            .baseline_of = "pointing_accuracy"};
  }
};

SOFTALIGN_METRIC("pointing_accuracy_ibm_model1",
                 PointingAccuracyIbmModel1,
                 "pointing accuracy of IBM Model 1, a baseline");

}  // namespace softalign
