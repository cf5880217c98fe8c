// The share of sentences whose hypothesis reached the search's length limit before it ended.
#include "framework/eval/metric.hpp"

namespace softalign {

class CutOff final : public Metric {
 public:
  using Options = NoOptions;
  explicit CutOff(const Options&) {}

  MetricFacts about() const override {
    return {.title = "cut off", .higher_is_better = false, .order = 3};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "cut_off",
             .long_name = "whether the length limit ended the hypothesis",
             .source = CountSource::decoded,
             .count = [](const EvaluatedSentence& s,
                         std::span<double> to) { to[0] = s.decoded->finished ? 0 : 1; },
             .stored = CountColumn::Stored::uint8}};
  }
  double value(const Counts& counts) const override {
    return 100 * ratio(counts.sum("cut_off"), static_cast<double>(counts.sentences()));
  }
};

SOFTALIGN_METRIC("cut_off", CutOff, "sentences whose hypothesis the search's length limit ended");

}  // namespace softalign
