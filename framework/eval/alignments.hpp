// The attention weights of a sentence: between symbols, between words, and as links to compare with gold links.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

struct EvaluatedSentence;  // counts.hpp

// [steps, positions]; steps end with </s>, positions end with the source's </s>.
struct AlignmentMatrix {
  Index steps = 0;
  Index positions = 0;
  std::vector<float> weights;
};

// The target symbol that a row aligns: the symbol predicted at its step, or the symbol read at its step, which is
// the previous one (naive and shifted attention of Chen et al. 2020, "Accurate Word Alignment Induction from Neural
// Machine Translation").
enum class RowAligns { predicted, read };
inline RowAligns row_aligns_of(std::string_view name) {
  return name == "read" ? RowAligns::read : RowAligns::predicted;
}

// One head of a decoder with several heads.
struct HeadMatrix {
  Index layer = 0;
  Index head = 0;
  AlignmentMatrix matrix;
};

// Joining pieces to words, to show or count alignments. The weight of two words is the sum over the pieces of the
// source word and the mean over the pieces of the target word, so that row sums do not change; two words are
// linked if any of their pieces are.

// The index of the word of each position and each step of a matrix; </s> is a word.
struct WordGroups {
  std::vector<Index> source;  // [positions]
  std::vector<Index> target;  // [steps]
};

// Returns nullopt if all symbols are words, or if the encoder's positions are not source symbols. The tokens are
// without </s>, which the matrix may include as a last step.
std::optional<WordGroups> word_groups(const Vocabulary& source,
                                      std::span<const Token> source_tokens,
                                      const Vocabulary& target,
                                      std::span<const Token> target_tokens,
                                      const AlignmentMatrix& matrix);

AlignmentMatrix join(const AlignmentMatrix& pieces, const WordGroups& words);
std::vector<Link> join(std::span<const Link> pieces, const WordGroups& words);

// Returns the names of the words, in order. tokens: without </s>.
std::vector<std::string> word_names(const Vocabulary& vocabulary,
                                    std::span<const Token> tokens,
                                    const std::vector<Index>& word_of);

// Weights as links between words: the source words that target words point at, and the gold links. Links to </s>
// do not count. Pieces are joined to words, and rows belong to the symbols that RowAligns says.
struct WordLinks {
  std::vector<std::vector<Index>> pointed;  // [target words] source words; </s> is `sources`
  std::vector<Link> known;                  // the gold links, without duplicates
  Index sources = 0;                        // number of source words
};
// Return empty links if the sentence has no gold links.
WordLinks attention_links(const EvaluatedSentence& sentence);
WordLinks ibm_model1_links(const EvaluatedSentence& sentence);

// |A|, |A and S|, |A and P|, |S|. A: predicted links; S: sure links; P: possible links, including the sure ones.
using LinkCounts = std::array<double, 4>;
LinkCounts link_counts(const WordLinks& links);

struct LinkRule {
  RowAligns rows = RowAligns::predicted;
  std::optional<float> threshold =
      {};  // smallest weight of a link; empty: words are linked to those that they point at
};

// Returns the links of a matrix whose last position is </s>, sorted by source, then target. symbols: the target
// length without </s>; words: as in EvaluatedSentence.
std::vector<Link> links_of(const AlignmentMatrix& attention,
                           Index symbols,
                           const WordGroups* words,
                           const LinkRule& rule);
// Returns the links of a matrix between the words of both sides (word_groups). Throws SpecError if positions are
// not source symbols.
std::vector<Link> links_of(const Vocabulary& source,
                           std::span<const Token> source_tokens,
                           const Vocabulary& target,
                           std::span<const Token> target_tokens,
                           const AlignmentMatrix& attention,
                           const LinkRule& rule);

}  // namespace softalign
