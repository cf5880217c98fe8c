// Pointing accuracy of IBM Model 1 (Brown et al. 1993), trained on the training pairs: the yardstick beside
// attention's own. Asked for by evaluate.baselines.
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class PointingAccuracyIbmModel1 final : public Metric {
 public:
  using Options = NoOptions;
  explicit PointingAccuracyIbmModel1(const Options&) {}

  MetricFacts about() const override {
    return {.title = "pointing accuracy of IBM Model 1",
            .place = 5,
            .baseline_of = "pointing_accuracy"};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "ibm_model1_hits",
             .long_name = "sure links that IBM Model 1 hits",
             .off = Counted::baseline,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   to[0] = static_cast<double>(points_of(sentence).hits);
                 }},
            {.name = "ibm_model1_tokens",
             .long_name = "target tokens with a sure link",
             .off = Counted::baseline,
             .count = [](const EvaluatedSentence& sentence, std::span<double> to) {
               to[0] = static_cast<double>(points_of(sentence).total);
             }}};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("ibm_model1_hits"), counts.sum("ibm_model1_tokens"));
  }

 private:
  static Count points_of(const EvaluatedSentence& sentence) {
    const Example& example = sentence.example;
    if (example.links.empty()) return {};
    if (sentence.words == nullptr)
      return point_count(sentence.ibm_model1->point(example.source, example.target), example.links);
    WordGroups words = *sentence.words;
    words.source.resize(example.source.size());
    words.target.resize(example.target.size());
    return point_count(
        words_point_at(sentence.ibm_model1->weights(example.source, example.target), words),
        join(example.links, words));
  }
};

SOFTALIGN_METRIC("pointing_accuracy_ibm_model1",
                 PointingAccuracyIbmModel1,
                 "pointing accuracy of IBM Model 1, a baseline");

}  // namespace softalign
