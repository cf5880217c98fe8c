// The share of target tokens with a sure link whose largest attention weight is at a surely linked source
// position. If the largest weights tie, all tied positions must be linked; a row with equal weights at all
// positions points nowhere and is wrong, and so is a row of zeros. Pieces of words are joined first
// (eval/alignments.hpp). evaluate.row_aligns selects the token that a row belongs to. Where an annotation covers
// several source symbols (encoder pyramidal_lstm, and others with fewer annotations than symbols), a link is at the
// annotation that covers its symbol: chance is higher then, so compare only models with equally many annotations.
#include "framework/eval/attention_diagnostics.hpp"

namespace softalign {

class PointingAccuracy final : public PointingMetric {
 public:
  explicit PointingAccuracy(const Options&)
      : PointingMetric(
            column<attention_links, &Count::hits>(
                "pointing_hits", "sure links that attention's argmax hits", CountSource::attention),
            column<attention_links, &Count::total>(
                "pointing_tokens", "target tokens with a sure link", CountSource::attention)) {}
  MetricFacts about() const override {
    return {.title = "pointing accuracy", .order = 4, .main = true, .of_rows = true};
  }
};

SOFTALIGN_METRIC(
    "pointing_accuracy",
    PointingAccuracy,
    "attention's argmax is a surely linked source token, or the annotation that covers it");

}  // namespace softalign
