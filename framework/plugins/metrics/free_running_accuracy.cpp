// How often the search's hypothesis has the reference's token at the same position, of the longer
// one's length. For tasks with one right answer; for translation see bleu.
#include "framework/eval/metric.hpp"

namespace softalign {

class FreeRunningAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit FreeRunningAccuracy(const Options&) {}

  double value(Sentences sentences) const override {
    return percent(sentences, [](const SentenceResult& s) { return s.free_running; });
  }
  bool higher_is_better() const override { return true; }
};

SOFTALIGN_METRIC("free_running_accuracy",
                 FreeRunningAccuracy,
                 "the hypothesis has the reference's token at the same position");

}  // namespace softalign
