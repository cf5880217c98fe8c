// Alignment error rate of IBM Model 1 (Brown et al. 1993), trained on the training pairs: the baseline for
// that of attention. Enabled by evaluate.baselines. Ties and uniform rows count as for attention.
#include "framework/eval/attention_diagnostics.hpp"

namespace softalign {

class AerIbmModel1 final : public ErrorRateMetric {
 public:
  explicit AerIbmModel1(const Options&)
      : ErrorRateMetric(column<ibm_model1_links>("ibm_model1_links", CountSource::baseline)) {}
  MetricFacts about() const override {
    return {
        .title = "AER of IBM Model 1", .higher_is_better = false, .order = 6, .baseline_of = "aer"};
  }
};

SOFTALIGN_METRIC("aer_ibm_model1", AerIbmModel1, "alignment error rate of IBM Model 1, a baseline");

}  // namespace softalign
