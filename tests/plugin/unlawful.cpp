// A metric with counts of 1/2 in a column of integers, and a metric with the name of one in another plugin.
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

class Halves final : public Metric {
 public:
  using Options = NoOptions;
  explicit Halves(const Options&) {}
  MetricFacts about() const override { return {.title = "halves", .units = "1"}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "halves",
             .long_name = "a half of each sentence",
             .count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = 0.5; }}};
  }
  double value(const Counts& counts) const override { return counts.sum("halves"); }
};
SOFTALIGN_METRIC("halves", Halves, "counts what its column cannot hold");

// The metric of repeats.cpp with the same counts and another formula.
class Repeats final : public Metric {
 public:
  using Options = NoOptions;
  explicit Repeats(const Options&) {}
  MetricFacts about() const override { return {.title = "repeats"}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "repeats",
             .long_name = "hypothesis symbols, and those that equal the one before them",
             .source = CountSource::decoded,
             .count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = to[1] = 1; },
             .width = 2}};
  }
  double value(const Counts& counts) const override {
    const auto [symbols, repeats] = counts.sums<2>("repeats");
    return ratio(50 * (symbols + repeats), symbols);
  }
};
SOFTALIGN_METRIC("repeats", Repeats, "is no longer what it was");

}  // namespace
}  // namespace softalign
