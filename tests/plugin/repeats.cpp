// A metric in a file of its own, with a count of its own; it includes only the header of its kind.
#include "framework/eval/metric.hpp"

namespace softalign {

class Repeats final : public Metric {
 public:
  using Options = NoOptions;
  explicit Repeats(const Options&) {}

  MetricFacts about() const override {
    return {.title = "repeats", .higher_is_better = false, .order = 50, .main = true};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "repeats",
             .long_name = "hypothesis symbols, and those that equal the one before them",
             .source = CountSource::decoded,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   const std::vector<Token>& tokens = sentence.decoded->tokens;
                   to[0] = static_cast<double>(tokens.size());
                   to[1] = 0;
                   for (std::size_t i = 1; i < tokens.size(); ++i)
                     to[1] += tokens[i] == tokens[i - 1];
                 },
             .width = 2,
             .part = "repeats_stat"}};
  }
  double value(const Counts& counts) const override {
    const auto [symbols, repeats] = counts.sums<2>("repeats");
    return ratio(100 * repeats, symbols);
  }
};

SOFTALIGN_METRIC("repeats", Repeats, "hypothesis symbols that equal the one before them");

}  // namespace softalign
