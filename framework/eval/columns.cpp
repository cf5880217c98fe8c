#include "framework/eval/columns.hpp"

#include <algorithm>

#include "framework/eval/bleu.hpp"
#include "framework/eval/tokenise.hpp"

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

namespace {

using Tokenise = std::vector<std::string> (*)(std::string_view);

template <Tokenise tokenise>
CountColumn bleu_column(const char* name) {
  return {.name = name,
          .long_name = "hypothesis length, reference length, 4 matches, 4 totals",
          .off = Counted::decoded,
          .count =
              [](const EvaluatedSentence& s, std::span<double> to) {
                std::ranges::copy(softalign::bleu_stats(tokenise(s.decoded->text),
                                                        tokenise(s.example.target_text)),
                                  to.begin());
              },
          .width = std::tuple_size_v<BleuStats>,
          .part = "bleu_stat"};
}

}  // namespace

CountColumn bleu_stats() { return bleu_column<tokenise_none>("bleu_stats"); }
CountColumn bleu_13a_stats() { return bleu_column<tokenise_13a>("bleu_13a_stats"); }
CountColumn bleu_char_stats() { return bleu_column<tokenise_char>("bleu_char_stats"); }
CountColumn bleu_intl_stats() { return bleu_column<tokenise_intl>("bleu_intl_stats"); }

}  // namespace softalign::columns
