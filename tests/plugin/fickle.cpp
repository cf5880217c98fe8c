// A metric that passes all conformance tests, and fails while FICKLE is set; and a diagnostic with an array over an axis
// without a name.
#include <cstdlib>
#include <stdexcept>

#include "framework/eval/diagnostic.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

class Fickle final : public Metric {
 public:
  using Options = NoOptions;
  explicit Fickle(const Options&) {}
  MetricFacts about() const override { return {.title = "fickle", .units = "1", .most = 1}; }
  std::vector<CountColumn> columns() const override {
    return {{.name = "fickle",
             .long_name = "one of each sentence",
             .source = CountSource::decoded,
             .count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = 1; }}};
  }
  double value(const Counts& counts) const override {
    if (counts.sentences() == kTestSentences && std::getenv("FICKLE") != nullptr)
      throw std::runtime_error("fickle: not today");
    return ratio(counts.sum("fickle"), static_cast<double>(counts.sentences()));
  }

 private:
  static constexpr Index kTestSentences = 20;  // of the run in tests/plugin
};
SOFTALIGN_METRIC("fickle", Fickle, "fails in a test alone");

class Nameless final : public Diagnostic {
 public:
  using Options = DiagnosticOptions;
  explicit Nameless(const Options&) {}
  bool looks(Moment moment, const Split&) const override { return moment == Moment::end; }
  std::vector<FoundArray> arrays() const override { return {{"found", "nothing", "1", {""}}}; }
  Findings look(const Probed&) const override { return {{{"", "places", {0}}}, {{"found", {0}}}}; }
};
SOFTALIGN_DIAGNOSTIC("nameless", Nameless, "finds something over an axis without a name");

}  // namespace
}  // namespace softalign
