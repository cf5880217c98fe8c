// Hypotheses drawn symbol by symbol from the model's distribution, with or without its tail.
// A draw is a function of (seed, example, sample index, step): it depends neither on the
// batch nor on threads, and additional samples do not change the first ones. Once the tape has
// enough memory, steps do not allocate.
#pragma once

#include <cstdint>
#include <optional>

#include "framework/eval/search.hpp"

namespace softalign {

// Symbols are drawn from p(v)^(1/temperature), normalised, restricted to the top_k most probable symbols and then,
// normalised again, to the smallest set with probability top_p (the nucleus, Holtzman et al. 2020, equation 3). <s>
// is never drawn.
struct SampleSettings {
  Index samples = 1;       // per sentence
  double temperature = 1;  // above 0
  std::optional<Index> top_k = {};
  std::optional<double> top_p = {};
  LengthLimits limits = {};
  std::uint64_t seed = 1;
};

// Returns samples of each sentence, the most probable one first. log_probability and score of a hypothesis are those
// of the model, even if the settings change the distribution. Equal samples are one hypothesis; `drawn` counts them.
std::vector<std::vector<Hypothesis>> sample(const Scorer& scorer,
                                            Tape& tape,
                                            const SourceBatch& source,
                                            const SampleSettings& settings,
                                            const Demands& demands = {});

// The distribution that a symbol is drawn from. Probabilities sum to 1; if the tail is cut off, the most probable
// symbols come first.
class SampleDistribution {
 public:
  explicit SampleDistribution(const SampleSettings& settings) : settings_(settings) {}

  // logits: log probabilities of all symbols, up to a constant.
  void set(std::span<const real> logits, bool may_end, bool may_be_unknown = true);
  Token draw(double u) const;             // inverts the cumulative distribution at u in [0, 1)
  double probability(Token token) const;  // 0 for symbols that are cut off

 private:
  struct Item {
    double p;
    Token token;
  };
  void cut_tail();
  void normalise();

  const SampleSettings& settings_;
  std::vector<Item> items_;
};

}  // namespace softalign
