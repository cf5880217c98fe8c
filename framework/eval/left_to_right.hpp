// Hypotheses of a batch of sentences that grow from left to right, each by one symbol per step. The
// search chooses the symbols:
//
//   LeftToRight growing(scorer, tape, source, width);
//   for (; growing.alive(); growing.advance()) {
//     growing.predict();
//     for (std::size_t i = 0; i < growing.live().size(); ++i) ...  // go_on and finish some of them
//   }
//
// The arrays of a step are on the tape and dropped after it; hypotheses are on its second tape. Both tapes
// reuse their memory, so that steps in the steady state do not allocate.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

// A symbol of a hypothesis, which is a linked list from its last symbol to its first.
struct BeamSymbol {
  Token token;
  double log_probability;    // of the hypothesis up to this symbol
  const BeamSymbol* parent;  // null for the first symbol
  const real* alignment;     // its row of weights, [annotations]; null without attention
};

class LeftToRight {
 public:
  // A sentence begins with `begin` hypotheses, and never has more than `width`. The tape is reset by the constructor
  // and the destructor. The objects that `demands` refers to must outlive this one.
  LeftToRight(const Scorer& scorer,
              Tape& tape,
              const SourceBatch& source,
              Index width,
              Index begin = 1,
              const Demands& demands = {});
  ~LeftToRight();
  LeftToRight(const LeftToRight&) = delete;
  LeftToRight& operator=(const LeftToRight&) = delete;

  bool alive() const { return !live_.empty(); }
  Index step() const { return step_; }                            // from 0
  std::span<const LiveHypothesis> live() const { return live_; }  // sentence by sentence

  Index annotations(Index sentence) const { return positions_[usize(sentence)]; }

  // Returns the symbol that a prefix demands at this step and the search must choose; nullopt if it is free.
  std::optional<Token> forced(std::size_t live) const {
    const std::span<const Token> prefix = demands_.prefix(live_[live].sentence);
    return step_ < std::ssize(prefix) ? std::optional(prefix[usize(step_)]) : std::nullopt;
  }
  // Returns whether a search without a forced symbol may choose this one; it may have other restrictions.
  bool allows(std::size_t live, Token token) const {
    return token != kBegin && !(demands_.no_unknown && token == kUnknown) &&
           logits(live)[usize(token)] != kImpossible;
  }

  void predict();
  std::span<const real> logits(std::size_t live) const;  // of the next symbol
  real log_sum(std::size_t live) const;                  // log p(v) = logits[v] - log_sum

  // Extend a hypothesis by one symbol; log_probability: of the extended hypothesis. `go_on` keeps it for the
  // next step (call it for the hypotheses of one sentence in sequence); `finish` returns it as a result.
  void go_on(std::size_t live, Token token, double log_probability);
  Hypothesis finish(std::size_t live, Token token, double log_probability);
  void advance();  // to the extended hypotheses

 private:
  const BeamSymbol* append(const LiveHypothesis& to, Token token, double log_probability);

  const Scorer& scorer_;
  Tape& tape_;
  SourceBatch source_;
  Demands demands_;
  std::vector<LiveHypothesis> live_, next_;
  std::vector<Token> previous_;  // by row
  std::vector<Model::Source> whole_;
  std::span<const Index> positions_;  // the numbers of the sentences' annotations
  BeamRows rows_;
  Tape::Mark steps_;  // the beginning of a step's arrays
  Scorer::Prediction prediction_;
  Index step_ = 0;
};

// Sorts finished hypotheses before those that reached the length limit, then by decreasing score; the sort is
// stable.
void put_best_first(std::vector<Hypothesis>& hypotheses);

}  // namespace softalign
