// Pieces of words joined to words again, in what shows or counts alignments. The convention: a word's weight is
// the sum over the pieces of a source word and the mean over the pieces of a target word, so that rows still sum
// to what they did; two words are linked where any of their pieces are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/alignment_matrix.hpp"

namespace softalign {

// The number of the word that each position and each step of a matrix belongs to; </s> is a word.
struct WordGroups {
  std::vector<Index> source;  // [positions]
  std::vector<Index> target;  // [steps]
};

// None where all symbols are words, and where an encoder's positions are not the source's symbols. tokens: without
// </s>, which stands behind them where the matrix has one more.
std::optional<WordGroups> word_groups(const Vocabulary& source,
                                      std::span<const Token> source_tokens,
                                      const Vocabulary& target,
                                      std::span<const Token> target_tokens,
                                      const AlignmentMatrix& matrix);

AlignmentMatrix join(const AlignmentMatrix& pieces, const WordGroups& words);
std::vector<Link> join(std::span<const Link> pieces, const WordGroups& words);

// What the words are called, in order. tokens: without </s>.
std::vector<std::string> word_names(const Vocabulary& vocabulary,
                                    std::span<const Token> tokens,
                                    const std::vector<Index>& word_of);

}  // namespace softalign
