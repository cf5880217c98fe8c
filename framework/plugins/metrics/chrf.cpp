// Corpus chrF2 (Popović 2015) of character n-grams, n = 1 to 6, white space left out, as sacreBLEU 2 computes it:
//   chrF = 100 (1 + β²) P R / (β² P + R),   β = 2: recall counts twice
// P, R: the part of the hypotheses' n-grams that is in the references, and of the references' that is in the
// hypotheses, counted over the corpus for each n; then their means over those n that both sides have.
#include <limits>
#include <vector>

#include "framework/eval/metric.hpp"

namespace softalign {

class Chrf final : public Metric {
 public:
  using Options = NoOptions;
  explicit Chrf(const Options&) {}

  double value(Sentences sentences) const override {
    std::vector<ChrfStats> stats;
    for (const SentenceResult* sentence : sentences)
      if (sentence->searched) stats.push_back(sentence->chrf);
    if (stats.empty()) return std::numeric_limits<double>::quiet_NaN();
    return chrf(stats);
  }
  bool higher_is_better() const override { return true; }
  std::string signature() const override { return chrf_signature(); }
};

SOFTALIGN_METRIC("chrf", Chrf, "corpus chrF2, character n-grams up to 6, as sacreBLEU computes it");

}  // namespace softalign
