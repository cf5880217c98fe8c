// Corpus BLEU (Papineni et al. 2002), one reference, tokens as they stand, equal to sacreBLEU's with tok:none,
// smooth:exp:   BLEU = 100 min(1, exp(1 - r/c)) (p_1 p_2 p_3 p_4)^(1/4)
// r, c: tokens of all references, of all hypotheses; p_n: the part of all hypotheses' n-grams that is right, each
// at most as often as in its reference. The k-th order without a right one counts 1/2^k of one; BLEU is 0 without
// any right token or any 4-gram. Where no reference has 4 tokens no hypothesis can have a right 4-gram, and what
// remains is 0 or smoothing: there it is undefined.
#include "framework/eval/bleu.hpp"

#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class Bleu final : public Metric {
 public:
  using Options = NoOptions;
  explicit Bleu(const Options&) {}

  MetricFacts about() const override {
    return {.title = "BLEU", .place = 3, .main = true, .signature = bleu_signature()};
  }
  std::vector<CountColumn> columns() const override { return {columns::bleu_stats()}; }
  double value(const Counts& counts) const override {
    constexpr auto kWidth = std::tuple_size_v<BleuStats>;
    if (!(counts.largest("bleu_stats", kWidth, 1) >= kBleuOrder)) return ratio(0, 0);
    return bleu(counts.sums<kWidth>("bleu_stats"));
  }
};

SOFTALIGN_METRIC("bleu", Bleu, "corpus BLEU over tokens as they stand, as sacreBLEU computes it");

}  // namespace softalign
