// Corpus BLEU; see framework/eval/bleu.hpp. Where no reference has 4 tokens no hypothesis can have a right
// 4-gram, and what remains is 0 or smoothing: there it is undefined.
#include <algorithm>
#include <limits>
#include <vector>

#include "framework/eval/metric.hpp"

namespace softalign {

class Bleu final : public Metric {
 public:
  using Options = NoOptions;
  explicit Bleu(const Options&) {}

  double value(Sentences sentences) const override {
    std::vector<BleuStats> stats;
    for (const SentenceResult* sentence : sentences)
      if (sentence->searched) stats.push_back(sentence->bleu);
    const auto has_4_grams = [](const BleuStats& one) { return one[1] >= kBleuOrder; };
    if (std::ranges::none_of(stats, has_4_grams)) return std::numeric_limits<double>::quiet_NaN();
    return bleu(stats);
  }
  bool higher_is_better() const override { return true; }
  std::string signature() const override { return bleu_signature(); }
};

SOFTALIGN_METRIC("bleu", Bleu, "corpus BLEU over tokens as they stand, as sacreBLEU computes it");

}  // namespace softalign
