// The contract of a search: source sentences to hypotheses, with the alignment of each.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/config/registry.hpp"
#include "framework/eval/scorer.hpp"

namespace softalign {

struct Hypothesis {
  std::vector<Token> tokens;   // without </s>
  double log_probability = 0;  // of the tokens and of </s> when finished; natural logarithm
  double score = 0;            // what the search ranks by
  bool finished = false;       // false: the length limit came before </s>
  std::vector<double> log_probabilities;  // [steps] of each symbol after those before it
  std::vector<float>
      alignment;    // [steps, annotations]; steps = tokens (+ 1 for </s>); empty without attention
  Index drawn = 0;  // how often, by a search that draws

  std::size_t steps() const { return tokens.size() + (finished ? 1 : 0); }
};

class Search {
 public:
  virtual ~Search() = default;
  // For each sentence its hypotheses, best first, at least one. The tape is used up and reset.
  virtual std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                                   Tape& tape,
                                                   const SourceBatch& source) const = 0;
  // How many hypotheses of a sentence it returns at most.
  virtual Index most() const = 0;
  // The option that says so; empty: there is none.
  virtual std::string_view most_option() const { return {}; }
  // The option that makes it read the weights of an attention, so that a model without one is refused;
  // empty: it reads none.
  virtual std::string_view attention_option() const { return {}; }
};

// Throws SpecError for models that the search cannot be used with. block: where it was chosen.
inline void check_search(const Search& search, const Scorer& scorer, std::string_view block) {
  if (const std::string_view option = search.attention_option();
      !option.empty() && !scorer.aligns())
    throw SpecError(
        "{}.{}: it reads attention weights, and the model has none; leave it out", block, option);
}

struct SearchKind {
  static constexpr const char* name = "search";
  // seed: the run's, for a search that draws.
  using Make = std::unique_ptr<Search>(std::uint64_t seed);
};

}  // namespace softalign

#define SOFTALIGN_SEARCH(name, Class, summary) SOFTALIGN_PLUGIN(SearchKind, name, Class, summary)
