// Alignment error rate (Och and Ney 2003) of attention, the reference forced on the decoder:
//   AER = 100 (1 - (|A and S| + |A and P|) / (|A| + |S|))
// A: links from each target word to the source words that its row points at (see pointing_accuracy), except </s>; S:
// sure links; P: possible links, including the sure ones. Counted over all sentences that have a gold link. Pieces of
// words are joined first (eval/alignments.hpp). evaluate.row_aligns selects the word that a row belongs to. Where an
// annotation covers several source symbols, links are between annotations and words, as in pointing_accuracy.
#include "framework/eval/attention_diagnostics.hpp"

namespace softalign {

class Aer final : public ErrorRateMetric {
 public:
  explicit Aer(const Options&)
      : ErrorRateMetric(column<attention_links>("attention_links", CountSource::attention)) {}
  MetricFacts about() const override {
    return {.title = "AER", .higher_is_better = false, .order = 5, .of_rows = true};
  }
};

SOFTALIGN_METRIC("aer", Aer, "alignment error rate of attention on sure and possible links");

}  // namespace softalign
