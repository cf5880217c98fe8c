// Attention weights of one sentence: between symbols, between words, and as links to compare with gold links.
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

// The target symbol that a row belongs to: the one predicted with it, or the one read at its step, the
// previous one (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine Translation": naive
// and shifted attention).
enum class RowAligns { predicted, read };
inline RowAligns row_aligns_of(std::string_view name) {
  return name == "read" ? RowAligns::read : RowAligns::predicted;
}

// One head of a decoder with several.
struct HeadMatrix {
  Index layer = 0;
  Index head = 0;
  AlignmentMatrix matrix;
};

// Joins pieces to words, to show or count alignments. A word's weight is the sum over the pieces of a source
// word and the mean over the pieces of a target word, so that row sums do not change; two words are linked if
// any of their pieces are.

// The number of the word that each position and each step of a matrix belongs to; </s> is a word.
struct WordGroups {
  std::vector<Index> source;  // [positions]
  std::vector<Index> target;  // [steps]
};

// Returns nothing if all symbols are words, or if an encoder's positions are not source symbols. tokens:
// without </s>, which follows if the matrix has one position more.
std::optional<WordGroups> word_groups(const Vocabulary& source,
                                      std::span<const Token> source_tokens,
                                      const Vocabulary& target,
                                      std::span<const Token> target_tokens,
                                      const AlignmentMatrix& matrix);

AlignmentMatrix join(const AlignmentMatrix& pieces, const WordGroups& words);
std::vector<Link> join(std::span<const Link> pieces, const WordGroups& words);

// The names of the words, in order. tokens: without </s>.
std::vector<std::string> word_names(const Vocabulary& vocabulary,
                                    std::span<const Token> tokens,
                                    const std::vector<Index>& word_of);

// Weights as links between words: where target words point, and the gold links. Nothing is linked to </s>. Pieces
// are joined to words, by the convention of the rows (RowAligns).
struct WordLinks {
  std::vector<std::vector<Index>> pointed;  // [target words] source words; </s> is `sources`
  std::vector<Link> known;                  // once each
  Index sources = 0;
};
// Empty where no link is known.
WordLinks attention_links(const EvaluatedSentence& sentence);
WordLinks ibm_model1_links(const EvaluatedSentence& sentence);

// |A|, |A and S|, |A and P|, |S|: links that are predicted, sure ones, possible ones with the sure among them.
using LinkCounts = std::array<double, 4>;
LinkCounts link_counts(const WordLinks& links);

struct LinkRule {
  RowAligns rows = RowAligns::predicted;
  std::optional<float> threshold =
      {};  // the least weight of a link; empty: links are where words point
};

// Returns the links of a matrix whose last position is </s>, sorted by source, then target. symbols: of the target,
// without </s>; words: as in EvaluatedSentence.
std::vector<Link> links_of(const AlignmentMatrix& attention,
                           Index symbols,
                           const WordGroups* words,
                           const LinkRule& rule);
// Returns the links of a matrix between the words of both sides, as from word_groups. Throws SpecError if
// positions are not source symbols.
std::vector<Link> links_of(const Vocabulary& source,
                           std::span<const Token> source_tokens,
                           const Vocabulary& target,
                           std::span<const Token> target_tokens,
                           const AlignmentMatrix& attention,
                           const LinkRule& rule);

}  // namespace softalign
