// BLEU over tokens as they stand, equal to sacreBLEU's with tok:none.
#include "framework/eval/bleu_metric.hpp"

namespace softalign {

class Bleu final : public BleuMetric {
 public:
  explicit Bleu(const Options&) : BleuMetric(columns::bleu_stats()) {}
  MetricFacts about() const override {
    return {.title = "BLEU", .place = 3, .main = true, .signature = bleu_signature("none")};
  }
};

SOFTALIGN_METRIC("bleu", Bleu, "corpus BLEU over tokens as they stand, as sacreBLEU computes it");

}  // namespace softalign
