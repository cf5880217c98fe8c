// The share of sentences whose hypothesis has exactly the text of a reference.
#include <algorithm>
#include <string_view>

#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class ExactMatch final : public Metric {
 public:
  using Options = NoOptions;
  explicit ExactMatch(const Options&) {}

  MetricFacts about() const override { return {.title = "exact match", .order = 1, .main = true}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "exact",
             .long_name = "hypothesis equals reference",
             .source = CountSource::decoded,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   const Decoded& found = *sentence.decoded;
                   to[0] = std::ranges::any_of(
                       sentence.all_references(), [&](std::string_view reference) {
                         return is_exact(
                             found.tokens, found.text, reference, std::ssize(found.replaced));
                       });
                 },
             .stored = CountColumn::Stored::uint8}};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("exact"), static_cast<double>(counts.sentences()));
  }
};

SOFTALIGN_METRIC("exact_match",
                 ExactMatch,
                 "sentences whose hypothesis has the text of the reference");

}  // namespace softalign
