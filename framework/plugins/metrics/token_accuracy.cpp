// How often the most probable token is the reference's, when the decoder is fed the reference. It
// hides how errors multiply in free running: see free_running_accuracy.
#include "framework/eval/metric.hpp"

namespace softalign {

class TokenAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit TokenAccuracy(const Options&) {}

  double value(Sentences sentences) const override {
    return percent(sentences, [](const SentenceResult& s) { return s.teacher_forced; });
  }
  bool higher_is_better() const override { return true; }
};

SOFTALIGN_METRIC("token_accuracy",
                 TokenAccuracy,
                 "teacher-forced: argmax is the reference's token, </s> counted");

}  // namespace softalign
