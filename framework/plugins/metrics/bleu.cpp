// Corpus BLEU (Papineni et al. 2002), one reference, tokens as they stand, equal to sacreBLEU's with tok:none,
// smooth:exp:   BLEU = 100 min(1, exp(1 - r/c)) (p_1 p_2 p_3 p_4)^(1/4)
// r, c: tokens of all references, of all hypotheses; p_n: the part of all hypotheses' n-grams that is right, each
// at most as often as in its reference. The k-th order without a right one counts 1/2^k of one; BLEU is 0 without
// any right token or any 4-gram. Where no reference has 4 tokens no hypothesis can have a right 4-gram, and what
// remains is 0 or smoothing: there it is undefined.
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
