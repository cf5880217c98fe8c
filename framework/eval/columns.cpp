#include "framework/eval/columns.hpp"

#include <algorithm>

#include "framework/eval/bleu.hpp"
#include "framework/eval/unicode.hpp"

namespace softalign::columns {

CountColumn nll() {
  return {.name = "nll",
          .long_name = "teacher-forced negative log-likelihood, nats",
          .count = [](const EvaluatedSentence& s, std::span<double> to) { to[0] = s.forced->nll; },
          .stored = CountColumn::Stored::float64,
          .units = "nats"};
}

CountColumn target_tokens() {
  return {.name = "target_tokens",
          .long_name = "target tokens with </s>",
          .count = [](const EvaluatedSentence& s, std::span<double> to) {
            to[0] = static_cast<double>(s.forced->target.size());
          }};
}

CountColumn bleu_stats() {
  return {.name = "bleu_stats",
          .long_name = "hypothesis length, reference length, 4 matches, 4 totals",
          .off = Counted::decoded,
          .count =
              [](const EvaluatedSentence& s, std::span<double> to) {
                std::ranges::copy(softalign::bleu_stats(unicode_words(s.decoded->text),
                                                        unicode_words(s.example.target_text)),
                                  to.begin());
              },
          .width = std::tuple_size_v<BleuStats>,
          .part = "bleu_stat"};
}

}  // namespace softalign::columns
