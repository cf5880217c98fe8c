// How often the search's hypothesis has the reference's token at the same position, relative to the length of the
// longer one. The text is re-segmented by the vocabulary, so other pieces of the same text are not an error. For
// tasks with a single correct answer; for translation see bleu.
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class FreeRunningAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit FreeRunningAccuracy(const Options&) {}

  MetricFacts about() const override { return {.title = "free-running accuracy", .order = 2}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "free_running_hits",
             .long_name = "positions at which hypothesis and reference agree",
             .source = CountSource::decoded,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   to[0] = static_cast<double>(matches_of(sentence).hits);
                 }},
            {.name = "free_running_positions",
             .long_name = "positions of the longer of both",
             .source = CountSource::decoded,
             .count = [](const EvaluatedSentence& sentence, std::span<double> to) {
               to[0] = static_cast<double>(matches_of(sentence).total);
             }}};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("free_running_hits"), counts.sum("free_running_positions"));
  }

 private:
  static Count matches_of(const EvaluatedSentence& sentence) {
    std::span<const Token> reference = sentence.example.target;
    if (sentence.forced != nullptr)  // it has copied words as symbols
      reference = std::span(sentence.forced->target).first(reference.size());
    return position_matches(sentence.decoded->symbols, reference);
  }
};

SOFTALIGN_METRIC("free_running_accuracy",
                 FreeRunningAccuracy,
                 "the hypothesis has the reference's token at the same position");

}  // namespace softalign
