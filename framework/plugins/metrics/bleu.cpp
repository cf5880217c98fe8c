// Corpus BLEU (Papineni et al. 2002), smooth:exp:
//   BLEU = 100 min(1, exp(1 - r/c)) (p_1 p_2 p_3 p_4)^(1/4)
// r, c: words of all references, of all hypotheses; p_n: the share of the hypotheses' n-grams that match,
// each at most as often as in its reference. The k-th order without a match counts as 1/2^k of one; BLEU is 0 without a
// matching word or without a 4-gram. If no reference has 4 words, no 4-gram can match and only smoothing would
// remain, so BLEU is undefined. With several references (task.test.references) an n-gram matches at most as often as
// in the reference that has it most often, and r sums the reference lengths closest to the hypotheses', the shorter
// of two. Equal to sacreBLEU's with the same tokenisation.
#include "framework/eval/text_metrics.hpp"

#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class Bleu final : public Metric {
 public:
  struct Options {
    std::string tokenize = "none";

    template <class V>
    void describe(V& v) {
      v("tokenize",
        tokenize,
        "sacreBLEU's tokenisation: none, the words as they stand; 13a, mteval-v13a's, as WMT "
        "reports "
        "it; intl, mteval-v14's, punctuation of any script apart; char, characters, for scripts "
        "without spaces",
        one_of("none", "13a", "intl", "char"));
    }
  };
  explicit Bleu(const Options& options)
      : tokenisation_(options.tokenize), column_(columns::bleu_stats(tokenisation_)) {}

  MetricFacts about() const override {
    const bool plain = tokenisation_ == "none";
    return {.title = plain ? "BLEU" : "BLEU (" + tokenisation_ + ")",
            .order = plain                     ? 3
                     : tokenisation_ == "13a"  ? 5
                     : tokenisation_ == "intl" ? 6
                                               : 7,
            .main = plain,
            .signature = bleu_signature(tokenisation_)};
  }
  std::vector<CountColumn> columns() const override { return {column_}; }
  double value(const Counts& counts) const override {
    constexpr auto kWidth = std::tuple_size_v<BleuStats>;
    if (!(counts.largest(column_.name, kWidth, 1) >= kBleuOrder)) return ratio(0, 0);
    return bleu(counts.sums<kWidth>(column_.name));
  }

 private:
  std::string tokenisation_;
  CountColumn column_;
};

SOFTALIGN_METRIC("bleu", Bleu, "corpus BLEU, as sacreBLEU computes it");

}  // namespace softalign
