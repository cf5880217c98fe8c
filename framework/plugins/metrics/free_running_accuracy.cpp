// The number of positions at which the search's hypothesis has the reference's token, relative to the length of the
// longer one. The text is re-segmented by the vocabulary, so other pieces of the same text are not an error, and a
// word in place of an <unk> is compared by its text. For tasks with a single correct answer; for translation see
// bleu.
#include <algorithm>

#include "framework/data/text.hpp"
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
    const Decoded& found = *sentence.decoded;
    const std::span<const Token> target = sentence.example.target;
    Count count = position_matches(found.symbols, target);
    if (found.replaced.empty() ||
        std::ranges::count(found.tokens, kUnknown) > std::ssize(found.replaced))
      return count;
    const auto words = split_words(found.text),
               reference = split_words(sentence.example.target_text);
    for (std::size_t i = 0; i < std::min({words.size(), reference.size(), target.size()}); ++i)
      count.hits +=
          found.symbols[i] == kUnknown && target[i] == kUnknown && words[i] == reference[i];
    return count;
  }
};

SOFTALIGN_METRIC("free_running_accuracy",
                 FreeRunningAccuracy,
                 "the hypothesis has the reference's token at the same position");

}  // namespace softalign
