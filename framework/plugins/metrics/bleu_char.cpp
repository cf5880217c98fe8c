// BLEU over characters, equal to sacreBLEU's with tok:char.
#include "framework/eval/bleu_metric.hpp"

namespace softalign {

class BleuChar final : public BleuMetric {
 public:
  explicit BleuChar(const Options&) : BleuMetric(columns::bleu_char_stats()) {}
  MetricFacts about() const override {
    return {.title = "BLEU (char)", .place = 7, .signature = bleu_signature("char")};
  }
};

SOFTALIGN_METRIC("bleu_char", BleuChar, "corpus BLEU over characters, for scripts without spaces");

}  // namespace softalign
