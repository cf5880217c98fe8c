// What the BLEU metrics share: they differ in what a word is.
#pragma once

#include "framework/eval/bleu.hpp"
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

// Corpus BLEU (Papineni et al. 2002), one reference, smooth:exp:   BLEU = 100 min(1, exp(1 - r/c)) (p_1 p_2 p_3 p_4)^(1/4)
// r, c: words of all references, of all hypotheses; p_n: the part of all hypotheses' n-grams that is right, each
// at most as often as in its reference. The k-th order without a right one counts 1/2^k of one; BLEU is 0 without
// any right word or any 4-gram. Where no reference has 4 words no hypothesis can have a right 4-gram, and what
// remains is 0 or smoothing: there it is undefined.
class BleuMetric : public Metric {
 public:
  using Options = NoOptions;

  std::vector<CountColumn> columns() const override { return {column_}; }
  double value(const Counts& counts) const override {
    constexpr auto kWidth = std::tuple_size_v<BleuStats>;
    if (!(counts.largest(column_.name, kWidth, 1) >= kBleuOrder)) return ratio(0, 0);
    return bleu(counts.sums<kWidth>(column_.name));
  }

 protected:
  explicit BleuMetric(CountColumn column) : column_(std::move(column)) {}

 private:
  CountColumn column_;
};

}  // namespace softalign
