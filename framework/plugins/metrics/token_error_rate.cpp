// Token error rate: edits that turn the references into the hypotheses, per 100 words of the references,
//   TER = 100 (S + D + I) / N
// S substituted, D deleted, I inserted words, as few as possible in each sentence (Levenshtein 1966), all of the same
// cost; N words of all references. It is the word error rate of speech recognition, as NIST's scoring counts it, and
// exceeds 100 where hypotheses are long and wrong. With several references (task.test.references) a sentence is counted
// with the one that gives it the lowest rate, the first in a tie.
#include <algorithm>
#include <array>
#include <numeric>

#include "framework/eval/metric.hpp"
#include "framework/eval/text_metrics.hpp"

namespace softalign {

class TokenErrorRate final : public Metric {
 public:
  using Options = NoOptions;
  explicit TokenErrorRate(const Options&) {}

  MetricFacts about() const override {
    return {.title = "token error rate", .higher_is_better = false, .most = kNoLimit, .order = 2};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "word_errors",
             .long_name = "substituted, deleted and inserted words; words of the reference",
             .source = CountSource::decoded,
             .count = count_errors,
             .width = 2,
             .part = "word_error"}};
  }
  double value(const Counts& counts) const override {
    const auto [errors, words] = counts.sums<2>("word_errors");
    return 100 * ratio(errors, words);
  }

 private:
  // Returns the fewest edits from one text to the other, computed row by row of the table of their prefixes.
  static double edits(std::span<const std::string> from, std::span<const std::string> to) {
    std::vector<double> row(to.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (const std::string& word : from) {
      double diagonal = row[0]++;
      for (std::size_t k = 0; k < to.size(); ++k) {
        const double substituted = diagonal + (word == to[k] ? 0 : 1);
        diagonal = row[k + 1];
        row[k + 1] = std::min({substituted, diagonal + 1, row[k] + 1});
      }
    }
    return row.back();
  }

  static void count_errors(const EvaluatedSentence& sentence, std::span<double> counts) {
    const std::vector<std::string> found = unicode_words(sentence.decoded->text);
    bool first = true;
    for (const std::string_view reference : sentence.all_references()) {
      const std::vector<std::string> words = unicode_words(reference);
      const std::array<double, 2> of{edits(words, found), static_cast<double>(words.size())};
      if (first || of[0] * counts[1] < counts[0] * of[1]) std::ranges::copy(of, counts.begin());
      first = false;
    }
  }
};

SOFTALIGN_METRIC("token_error_rate",
                 TokenErrorRate,
                 "edits per 100 words of the references: the word error rate of speech");

}  // namespace softalign
