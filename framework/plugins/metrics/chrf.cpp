// Corpus chrF2; see framework/eval/chrf.hpp.
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
