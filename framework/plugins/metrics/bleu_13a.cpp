// BLEU over the words of mteval-v13a, as WMT reports it: equal to sacreBLEU's with tok:13a.
#include "framework/eval/bleu_metric.hpp"

namespace softalign {

class Bleu13a final : public BleuMetric {
 public:
  explicit Bleu13a(const Options&) : BleuMetric(columns::bleu_13a_stats()) {}
  MetricFacts about() const override {
    return {.title = "BLEU (13a)", .place = 5, .signature = bleu_signature("13a")};
  }
};

SOFTALIGN_METRIC("bleu_13a", Bleu13a, "corpus BLEU over mteval-v13a's words, sacreBLEU's default");

}  // namespace softalign
