// How many sentences the search gets right as a whole.
#include "framework/eval/matches.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class ExactMatch final : public Metric {
 public:
  using Options = NoOptions;
  explicit ExactMatch(const Options&) {}

  MetricFacts about() const override { return {.title = "exact match", .place = 1, .main = true}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "exact",
             .long_name = "hypothesis equals reference",
             .off = Counted::decoded,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   to[0] = is_exact(sentence.decoded->tokens, sentence.example.target);
                 },
             .stored = CountColumn::Stored::uint8}};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("exact"), static_cast<double>(counts.sentences()));
  }
};

SOFTALIGN_METRIC("exact_match", ExactMatch, "sentences whose hypothesis equals the reference");

}  // namespace softalign
