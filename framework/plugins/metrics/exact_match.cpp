// How many sentences the search gets right as a whole.
#include "framework/eval/metric.hpp"

namespace softalign {

class ExactMatch final : public Metric {
 public:
  using Options = NoOptions;
  explicit ExactMatch(const Options&) {}

  double value(Sentences sentences) const override {
    return percent(sentences, [](const SentenceResult& s) { return Count{s.exact, s.searched}; });
  }
  bool higher_is_better() const override { return true; }
};

SOFTALIGN_METRIC("exact_match", ExactMatch, "sentences whose hypothesis equals the reference");

}  // namespace softalign
