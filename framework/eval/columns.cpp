#include "framework/eval/columns.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/eval/text_metrics.hpp"

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

CountColumn bleu_stats(const std::string& tokenisation) {
  return {
      .name = tokenisation == "none" ? "bleu_stats" : fmt::format("bleu_{}_stats", tokenisation),
      .long_name = "hypothesis length, reference length, 4 matches, 4 totals",
      .source = CountSource::decoded,
      .count =
          [tokenise = tokeniser(tokenisation)](const EvaluatedSentence& s, std::span<double> to) {
            std::vector<std::vector<std::string>> references;
            for (const std::string_view one : s.all_references())
              references.push_back(tokenise(one));
            std::ranges::copy(softalign::bleu_stats(tokenise(s.decoded->text), references),
                              to.begin());
          },
      .width = std::tuple_size_v<BleuStats>,
      .part = "bleu_stat"};
}

}  // namespace softalign::columns
