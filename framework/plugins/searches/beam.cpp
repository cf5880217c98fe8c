// Beam search with length normalisation.
#include "framework/eval/beam.hpp"

namespace softalign {
namespace {

class BeamPlugin final : public Search {
 public:
  struct Options {
    Index width = 5;
    double length_normalization = 1;
    double max_ratio = 2;
    Index max_extra = 10;
    template <class V>
    void describe(V& v) {
      v("width", width, "hypotheses kept", between(1, 1000));
      v("length_normalization",
        length_normalization,
        "score = log probability / steps^this; 0: none",
        between(0, 10));
      v("max_ratio",
        max_ratio,
        "longest output: max_ratio * source length + max_extra",
        positive_up_to(100));
      v("max_extra", max_extra, "see max_ratio", between(1, kLongestSentence));
    }
  };
  explicit BeamPlugin(const Options& options)
      : settings_{
            options.width, options.length_normalization, options.max_ratio, options.max_extra} {}

  std::vector<std::vector<Hypothesis>> run(const Model& model,
                                           Tape& tape,
                                           const SourceBatch& source) const override {
    return beam_search(model, tape, source, settings_);
  }

 private:
  BeamSettings settings_;
};
SOFTALIGN_SEARCH("beam", BeamPlugin, "beam search with length normalisation");

}  // namespace
}  // namespace softalign
