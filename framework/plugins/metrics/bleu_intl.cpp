// BLEU over the words of mteval-v14, equal to sacreBLEU's with tok:intl.
#include "framework/eval/bleu_metric.hpp"

namespace softalign {

class BleuIntl final : public BleuMetric {
 public:
  explicit BleuIntl(const Options&) : BleuMetric(columns::bleu_intl_stats()) {}
  MetricFacts about() const override {
    return {.title = "BLEU (intl)", .place = 6, .signature = bleu_signature("intl")};
  }
};

SOFTALIGN_METRIC("bleu_intl",
                 BleuIntl,
                 "corpus BLEU over mteval-v14's words: punctuation of any script apart");

}  // namespace softalign
