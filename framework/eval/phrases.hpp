// The phrases that outputs must contain, and how far each hypothesis of a beam is with them. And how the beam is
// shared among hypotheses by the number of symbols that they still need: Post and Vilar 2018, "Fast
// Lexically Constrained Decoding with Dynamic Beam Allocation for Neural Machine Translation".
//
// Every phrase is followed by itself, as a pattern in a text (Knuth, Morris and Pratt 1977): what has been written of
// it is the longest of its beginnings that the hypothesis ends with. So phrases may overlap in the output, and
// none is lost because another one begins in the same way. Equal phrases count once.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

// The phrases of one sentence. A progress has a number for each: the symbols of it that are written, all of
// them once it has occurred.
class PhraseSet {
 public:
  explicit PhraseSet(std::span<const Demands::Phrase> phrases);

  Index count() const { return std::ssize(patterns_); }
  Index symbols() const { return symbols_; }  // of all phrases
  // The symbol that comes next in an incomplete phrase; -1: it is complete.
  Token next(Index phrase, std::span<const Index> progress) const;
  // Progress after one more symbol, of one phrase.
  Index after(Index phrase, std::span<const Index> progress, Token token) const;
  // The symbols that complete all phrases, if they are written one phrase after the other.
  Index missing(std::span<const Index> progress) const;
  Index missing_after(std::span<const Index> progress, Token token) const;

 private:
  struct Pattern {
    Demands::Phrase symbols;
    std::vector<Index>
        shorter;  // [n]: the next shorter beginning that its first i + 1 symbols end with
  };
  template <class Progress>
  Index missing_if(Progress&& progress) const;

  std::vector<Pattern> patterns_;
  Index symbols_ = 0;
};

// The progress of all hypotheses that are alive. A step does not allocate.
class PhraseProgress {
 public:
  // No phrases: wants() is false for all sentences. capacity: hypotheses alive.
  PhraseProgress(const Demands& demands, Index sentences, Index capacity);

  bool wants(Index sentence) const { return !sets_.empty() && of(sentence).count() > 0; }
  const PhraseSet& of(Index sentence) const { return sets_[usize(sentence)]; }
  std::span<const Index> at(Index sentence, std::size_t live) const;
  Index most_phrases() const { return most_; }  // of a sentence
  Index most_symbols() const;                   // of the phrases of a sentence

  // Extends a hypothesis for the next step; in the order of LeftToRight::go_on.
  void go_on(Index sentence, std::size_t live, Token token);
  void advance();

 private:
  std::vector<PhraseSet> sets_;  // of each sentence
  Index most_ = 0;
  std::vector<Index> now_, next_;  // [live, most]
};

// The slots of a beam of `width` for banks of candidates: bank b has those that contain b symbols of the phrases, and
// candidates[b] is their number. Each bank gets an equal share, the last one also the remainder; what a bank has no
// candidates for goes to the bank before it, and what is left then to the banks from the last one on.
void allocate_banks(Index width, std::span<const Index> candidates, std::span<Index> slots);

}  // namespace softalign
