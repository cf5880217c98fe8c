// Corpus chrF2 (Popović 2015) of character n-grams, n = 1 to 6, without white space, as sacreBLEU 2 computes it:
//   chrF = 100 (1 + β²) P R / (β² P + R),   β = 2: recall counts twice
// P, R: the shares of the hypotheses' n-grams in the references and of the references' n-grams in the
// hypotheses, counted over the corpus for each n, then averaged over those n that both sides have. With several
// references (task.test.references) a sentence is counted with the one that gives it the highest chrF.
#include "framework/eval/text_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "framework/eval/metric.hpp"

namespace softalign {

class Chrf final : public Metric {
 public:
  using Options = NoOptions;
  explicit Chrf(const Options&) {}

  MetricFacts about() const override {
    return {.title = "chrF2", .order = 4, .signature = chrf_signature()};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "chrf_stats",
             .long_name = "hypothesis, reference and matching n-grams for n = 1..6",
             .source = CountSource::decoded,
             .count = count_ngrams,
             .width = std::tuple_size_v<ChrfStats>,
             .part = "chrf_stat"}};
  }
  double value(const Counts& counts) const override {
    const auto sums = counts.sums<std::tuple_size_v<ChrfStats>>("chrf_stats");
    return counts.sentences() == 0 || std::isnan(sums[0]) ? ratio(0, 0) : chrf(sums);
  }

 private:
  static void count_ngrams(const EvaluatedSentence& sentence, std::span<double> to) {
    std::ranges::copy(chrf_stats(sentence.decoded->text, sentence.all_references()), to.begin());
  }
};

SOFTALIGN_METRIC("chrf", Chrf, "corpus chrF2, character n-grams up to 6, as sacreBLEU computes it");

}  // namespace softalign
