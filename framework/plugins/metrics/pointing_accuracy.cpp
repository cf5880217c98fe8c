// How often attention is strongest on a source position that the target token is surely linked to, of the target
// tokens that have a sure link. Where the largest weights tie, it is right when all of the tied positions are
// linked; a row that is even over all positions points nowhere and is wrong, as is one of zeros. Pieces of words
// are joined before (eval/alignments.hpp). Which token a row belongs to, evaluate.row_aligns says.
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

SOFTALIGN_METRIC("pointing_accuracy",
                 PointingAccuracy,
                 "attention's argmax is a surely linked source token");

}  // namespace softalign
