// The phrases that outputs must contain, the progress of each hypothesis of a beam, and the division of the beam among
// hypotheses by the number of symbols that they still need: Post and Vilar 2018, "Fast Lexically Constrained Decoding
// with Dynamic Beam Allocation for Neural Machine Translation".
//
// Each phrase is tracked separately, like a pattern in a text (Knuth, Morris and Pratt 1977): its progress is its
// longest prefix that the hypothesis ends with. So phrases may overlap in the output, and none is missed because
// another one has the same prefix. Equal phrases count once.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

// The phrases of one sentence. A progress has a number for each phrase: the number of its symbols that are written,
// which stays at all of them once the phrase has occurred.
class PhraseSet {
 public:
  explicit PhraseSet(std::span<const Demands::Phrase> phrases);

  Index count() const { return std::ssize(patterns_); }
  Index symbols() const { return symbols_; }  // of all phrases
  // Returns the next symbol of an incomplete phrase; -1 if it is complete.
  Token next(Index phrase, std::span<const Index> progress) const;
  // Returns the progress of one phrase after one more symbol.
  Index after(Index phrase, std::span<const Index> progress, Token token) const;
  // Return the number of symbols that complete all phrases if they are written one after the other.
  Index missing(std::span<const Index> progress) const;
  Index missing_after(std::span<const Index> progress, Token token) const;

 private:
  struct Pattern {
    Demands::Phrase symbols;
    std::vector<Index>
        shorter;  // [n]: length of the longest proper prefix that its first i + 1 symbols end with
  };
  template <class Progress>
  Index missing_if(Progress&& progress) const;

  std::vector<Pattern> patterns_;
  Index symbols_ = 0;
};

// The progress of all live hypotheses. A step does not allocate.
class PhraseProgress {
 public:
  // Without phrases, wants() is false for all sentences. capacity: the largest number of live hypotheses.
  PhraseProgress(const Demands& demands, Index sentences, Index capacity);

  bool wants(Index sentence) const { return !sets_.empty() && of(sentence).count() > 0; }
  const PhraseSet& of(Index sentence) const { return sets_[usize(sentence)]; }
  std::span<const Index> at(Index sentence, std::size_t live) const;
  Index most_phrases() const { return most_; }  // of a sentence
  Index most_symbols() const;                   // of the phrases of a sentence

  // Extends a hypothesis for the next step. Call it in the order of LeftToRight::go_on.
  void go_on(Index sentence, std::size_t live, Token token);
  void advance();

 private:
  std::vector<PhraseSet> sets_;  // of each sentence
  Index most_ = 0;
  std::vector<Index> now_, next_;  // [live, most]
};

// Divides a beam of `width` slots among banks: bank b has the candidates[b] candidates that contain b symbols of the
// phrases. Each bank gets an equal share, and the last one also the remainder. Slots that a bank has no candidates for
// go to the bank before it; slots that are left after the first bank go to the banks from the last one on.
void allocate_banks(Index width, std::span<const Index> candidates, std::span<Index> slots);

}  // namespace softalign
