// Greedy search: the most probable symbol at every step.
#include "framework/eval/beam.hpp"

namespace softalign {
namespace {

class Greedy final : public Search {
 public:
  struct Options {
    LengthLimits limits;
    template <class V>
    void describe(V& v) {
      limits.describe(v);
    }
  };
  Greedy(std::uint64_t, Index target_length, const Options& options)
      : settings_{1, 0, options.limits} {
    settings_.limits.target_length = target_length;
  }

  std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                           Tape& tape,
                                           const SourceBatch& source,
                                           const Demands& demands) const override {
    return beam_search(scorer, tape, source, settings_, demands);
  }
  bool meets(Demand demand) const override { return demand != Demand::phrases; }
  Index most() const override { return 1; }

 private:
  BeamSettings settings_;
};
SOFTALIGN_SEARCH("greedy", Greedy, "the most probable symbol at every step");

}  // namespace
}  // namespace softalign
