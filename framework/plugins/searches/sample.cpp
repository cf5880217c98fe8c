// Sampling: each symbol is drawn from the model's distribution, unchanged, sharpened by a temperature,
// or truncated to its most probable symbols (top k: Fan et al. 2018; nucleus: Holtzman et al. 2020).
#include "framework/eval/sampling.hpp"

namespace softalign {
namespace {

class Sample final : public Search {
 public:
  struct Options {
    SampleSettings settings;
    std::optional<Index> seed;
    template <class V>
    void describe(V& v) {
      v("samples",
        settings.samples,
        "hypotheses drawn for each sentence, the most probable first; those equal in every symbol "
        "count "
        "as one",
        between(1, 1000));
      v("temperature",
        settings.temperature,
        "probabilities to the power of 1/temperature; towards 0: greedy",
        positive_up_to(100));
      v("top_k",
        settings.top_k,
        "draw from this many of the most probable symbols; null: all",
        between(1, kMostSymbols));
      v("top_p",
        settings.top_p,
        "draw from the fewest symbols that have this probability together, after top_k; null: all",
        positive_up_to(1));
      settings.limits.describe(v);
      v("seed", seed, "seed of the draws; null: the run's", at_least(0));
    }
  };
  Sample(std::uint64_t seed, Index target_length, const Options& options)
      : settings_(options.settings) {
    settings_.limits.target_length = target_length;
    settings_.seed = options.seed ? static_cast<std::uint64_t>(*options.seed) : seed;
  }

  std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                           Tape& tape,
                                           const SourceBatch& source,
                                           const Demands& demands) const override {
    return sample(scorer, tape, source, settings_, demands);
  }
  bool meets(Demand demand) const override { return demand != Demand::phrases; }
  Index most() const override { return settings_.samples; }
  std::string_view most_option() const override { return "samples"; }

 private:
  SampleSettings settings_;
};
SOFTALIGN_SEARCH("sample", Sample, "symbols drawn at random: temperature, top k, nucleus");

}  // namespace
}  // namespace softalign
