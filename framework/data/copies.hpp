// Maps source symbols to the target symbols of their copies. If symbols are words, a source word that the target
// vocabulary lacks gets a symbol of its own in its sentence: V + s, where V is the size of the target vocabulary
// and s the first position of the word (the extended vocabulary of See et al. 2017, section 2.2).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// Returns the symbol, or <unk> if its index is outside the vocabulary.
inline Token in_vocabulary(Token token, Index symbols) {
  return token < symbols ? token : kUnknown;
}

class Copies {
 public:
  // Matches symbols by index: a copy has the same index, or is <unk> if the target vocabulary lacks it.
  Copies(Index source_symbols, Index target_symbols);
  // Matches symbols by name.
  Copies(const Vocabulary& source, std::shared_ptr<const Vocabulary> target);

  // The copies of a sentence without </s>.
  struct OfSentence {
    std::vector<Token> symbols;           // of each position
    std::vector<std::string_view> words;  // V + s is the word at s; "" at the other positions
  };
  // text: the sentence as read, which `words` are views of; if "", words that the target vocabulary lacks are <unk>.
  OfSentence of(std::span<const Token> source, std::string_view text) const;
  // Replaces each <unk> of a target whose word is in `words` by V + s. text: the target as read.
  void extend(std::span<Token> target,
              std::string_view text,
              std::span<const std::string_view> words) const;

 private:
  std::vector<Token> symbols_;  // the copy of each source symbol
  Index target_symbols_;
  std::shared_ptr<const Vocabulary> words_;  // the target's; null: symbols are not words
};

}  // namespace softalign
