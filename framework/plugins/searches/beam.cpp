// Beam search. Finished hypotheses are ranked by log P / lp + coverage_penalty * coverage, with the
// length penalty lp = steps^a, or ((5 + steps) / 6)^a as in GNMT (Wu et al. 2016, equation 14); coverage,
// from the same equation: sum over source positions of log(min(1, total attention weight)).
#include "framework/eval/beam.hpp"

namespace softalign {
namespace {

class BeamPlugin final : public Search {
 public:
  struct Options {
    Index width = 5;
    double length_normalization = 1;
    LengthLimits limits;
    std::optional<std::string> length_penalty;
    std::optional<double> coverage_penalty;
    template <class V>
    void describe(V& v) {
      v("width", width, "hypotheses kept", between(1, 1000));
      v("length_normalization",
        length_normalization,
        "a of the length penalty: score = log probability / steps^a; 0: none",
        between(0, 10));
      limits.describe(v);
      v("length_penalty",
        length_penalty,
        "none: 1; average: steps^a; gnmt: ((5 + steps) / 6)^a, a is length_normalization; null: "
        "average",
        one_of("none", "average", "gnmt"));
      v.inactive("length_normalization", length_penalty == "none", "length_penalty is none");
      v("coverage_penalty",
        coverage_penalty,
        "b: score + b * sum over source positions of log(min(1, attention it got)); null: none",
        at_least(0));
    }
  };
  BeamPlugin(std::uint64_t, Index target_length, const Options& options)
      : settings_{options.width, options.length_normalization, options.limits} {
    settings_.limits.target_length = target_length;
    if (options.length_penalty == "none") settings_.length_normalization = 0;
    if (options.length_penalty == "gnmt") settings_.length_penalty = LengthPenalty::gnmt;
    settings_.coverage_penalty = options.coverage_penalty.value_or(0);
  }

  std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                           Tape& tape,
                                           const SourceBatch& source,
                                           const Demands& demands) const override {
    return beam_search(scorer, tape, source, settings_, demands);
  }
  bool meets(Demand) const override { return true; }
  Index most() const override { return settings_.width; }
  std::string_view most_option() const override { return "width"; }
  std::string_view attention_option() const override {
    return settings_.coverage_penalty > 0 ? "coverage_penalty" : "";
  }

 private:
  BeamSettings settings_;
};
SOFTALIGN_SEARCH("beam", BeamPlugin, "beam search with length and coverage penalties");

}  // namespace
}  // namespace softalign
