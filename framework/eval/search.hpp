// The contract of a search: source sentences to hypotheses, with the alignment of each.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "framework/config/registry.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

struct Hypothesis {
  std::vector<Token> tokens;   // without </s>
  double log_probability = 0;  // of the tokens and of </s> when finished; natural logarithm
  double score = 0;            // what the search ranks by
  bool finished = false;       // false: the length limit came before </s>
  std::vector<float>
      alignment;  // [steps, source length]; steps = tokens (+ 1 for </s>); empty without attention

  std::size_t steps() const { return tokens.size() + (finished ? 1 : 0); }
};

class Search {
 public:
  virtual ~Search() = default;
  // For each sentence its hypotheses, best first, at least one. The tape is used up and reset.
  virtual std::vector<std::vector<Hypothesis>> run(const Model& model,
                                                   Tape& tape,
                                                   const SourceBatch& source) const = 0;
};

struct SearchKind {
  static constexpr const char* name = "search";
  using Make = std::unique_ptr<Search>();
};

}  // namespace softalign

#define SOFTALIGN_SEARCH(name, Class, summary) SOFTALIGN_PLUGIN(SearchKind, name, Class, summary)
