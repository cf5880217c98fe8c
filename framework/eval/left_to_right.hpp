// Hypotheses of a batch of sentences that grow from left to right, all by one symbol per step. The
// search chooses the symbols:
//
//   LeftToRight growing(scorer, tape, source, width);
//   for (; growing.alive(); growing.advance()) {
//     growing.predict();
//     for (std::size_t i = 0; i < growing.live().size(); ++i) ...  // go_on and finish some of them
//   }
//
// Arrays of a step are on the tape and dropped with it; hypotheses are on its second tape. Both
// keep their memory, so that steps in the steady state do not allocate.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

// A hypothesis is a chain of these, from its last symbol back.
struct BeamSymbol {
  Token token;
  double log_probability;    // of the hypothesis up to here
  const BeamSymbol* parent;  // null: the first
  const real* alignment;     // its row of weights, [annotations]; null without attention
};

class LeftToRight {
 public:
  // A sentence begins with `begin` hypotheses, and never has more than `width`. The tape is reset, now and at
  // the end. What `demands` refers to must outlive it.
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

  // The symbol that a prefix has here, which the search must choose; nothing where it is free.
  std::optional<Token> forced(std::size_t live) const {
    const std::span<const Token> prefix = demands_.prefix(live_[live].sentence);
    return step_ < std::ssize(prefix) ? std::optional(prefix[usize(step_)]) : std::nullopt;
  }
  // Returns whether a search that is free may choose the symbol, as far as this class knows.
  bool allows(std::size_t live, Token token) const {
    return token != kBegin && !(demands_.no_unknown && token == kUnknown) &&
           logits(live)[usize(token)] != kImpossible;
  }

  void predict();
  std::span<const real> logits(std::size_t live) const;  // of the next symbol
  real log_sum(std::size_t live) const;                  // log p(v) = logits[v] - log_sum

  // Extends a hypothesis by one symbol, with this new log probability: for the next step (hypotheses
  // of one sentence in sequence), or as a result.
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
  std::span<const Index> positions_;  // of the sentences' annotations
  BeamRows rows_;
  Tape::Mark steps_;  // where a step's own arrays begin
  Scorer::Prediction prediction_;
  Index step_ = 0;
};

// Sorts finished hypotheses before those that reached the length limit, then by falling score; the sort is
// stable.
void put_best_first(std::vector<Hypothesis>& hypotheses);

}  // namespace softalign
