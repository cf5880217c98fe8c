// Hypotheses drawn symbol by symbol from the model's distribution, complete or with its tail cut off.
// A draw is a function of (seed, example, number of the sample, step): it depends neither on the
// batch nor on threads, and additional samples do not change the first ones. Once the tape has its
// memory, steps do not allocate.
#pragma once

#include <cstdint>
#include <optional>

#include "framework/eval/search.hpp"

namespace softalign {

// p(v)^(1/temperature), normalised; of that the top_k most probable symbols; of these, normalised,
// the fewest that have top_p together (the nucleus, Holtzman et al. 2020, equation 3). <s> is never
// drawn.
struct SampleSettings {
  Index samples = 1;       // of each sentence
  double temperature = 1;  // above 0
  std::optional<Index> top_k = {};
  std::optional<double> top_p = {};
  LengthLimits limits = {};
  std::uint64_t seed = 1;
};

// log_probability and score of a hypothesis are the model's, whatever it was drawn from. The most
// probable sample of a sentence comes first. Equal samples are one hypothesis, `drawn` so often.
std::vector<std::vector<Hypothesis>> sample(const Scorer& scorer,
                                            Tape& tape,
                                            const SourceBatch& source,
                                            const SampleSettings& settings,
                                            const Demands& demands = {});

// The distribution that a symbol is drawn from: symbols with a probability, summing to 1, the most probable
// first where the tail is cut off.
class SampleDistribution {
 public:
  explicit SampleDistribution(const SampleSettings& settings) : settings_(settings) {}

  // Takes log probabilities up to a constant, `logits` of all symbols.
  void set(std::span<const real> logits, bool may_end, bool may_be_unknown = true);
  Token draw(double u) const;             // u in [0, 1): the inverse of the cumulative distribution
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
