// The share of target tokens at which the most probable token is the reference's, when the decoder is
// fed the reference. It hides that errors accumulate in free running: see free_running_accuracy.
#include "framework/eval/columns.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class TokenAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit TokenAccuracy(const Options&) {}

  MetricFacts about() const override {
    return {.title = "token accuracy", .order = 3, .main = true};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "correct_tokens", .long_name = "teacher-forced hits", .count = count_hits},
            columns::target_tokens()};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("correct_tokens"), counts.sum("target_tokens"));
  }

 private:
  static void count_hits(const EvaluatedSentence& sentence, std::span<double> hits) {
    hits[0] = 0;
    for (std::size_t t = 0; t < sentence.forced->target.size(); ++t)
      hits[0] += sentence.forced->best[t] == sentence.forced->target[t];
  }
};

SOFTALIGN_METRIC("token_accuracy",
                 TokenAccuracy,
                 "teacher-forced: argmax is the reference's token, </s> counted");

}  // namespace softalign
