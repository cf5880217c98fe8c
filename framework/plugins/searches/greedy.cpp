// Greedy search: the most probable symbol at every step.
#include "framework/eval/beam.hpp"

namespace softalign {
namespace {

class Greedy final : public Search {
 public:
  struct Options {
    double max_ratio = 2;
    Index max_extra = 10;
    template <class V>
    void describe(V& v) {
      v("max_ratio",
        max_ratio,
        "longest output: max_ratio * source length + max_extra",
        positive_up_to(100));
      v("max_extra", max_extra, "see max_ratio", between(1, kLongestSentence));
    }
  };
  explicit Greedy(const Options& options) : settings_{1, 0, options.max_ratio, options.max_extra} {}

  std::vector<std::vector<Hypothesis>> run(const Model& model,
                                           Tape& tape,
                                           const SourceBatch& source) const override {
    return beam_search(model, tape, source, settings_);
  }

 private:
  BeamSettings settings_;
};
SOFTALIGN_SEARCH("greedy", Greedy, "the most probable symbol at every step");

}  // namespace
}  // namespace softalign
