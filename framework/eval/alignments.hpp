// Attention weights of one sentence: between symbols, between words, and as links that are compared with known ones.
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

// The target symbol that a row stands for: the one that was predicted with it, or the one that was read at its
// step, the one before (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine Translation":
// naive and shifted attention).
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

// Pieces of words joined to words again, in what shows or counts alignments. The convention: a word's weight is
// the sum over the pieces of a source word and the mean over the pieces of a target word, so that rows still sum
// to what they did; two words are linked where any of their pieces are.

// The number of the word that each position and each step of a matrix belongs to; </s> is a word.
struct WordGroups {
  std::vector<Index> source;  // [positions]
  std::vector<Index> target;  // [steps]
};

// Nothing where all symbols are words, and where an encoder's positions are not the source's symbols. tokens:
// without </s>, which stands behind them where the matrix has one more.
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

// Weights as links between words: where target words point, beside the links that are known. Nothing is linked to
// </s>. Symbols that are pieces are joined to words, those of the rows' own convention (RowAligns).
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
      {};  // the least weight of a link; none: links are where words point
};

// The links of a matrix whose last position is </s>, sorted by source, then target. symbols: of the target, without
// </s>; words: as EvaluatedSentence has them.
std::vector<Link> links_of(const AlignmentMatrix& attention,
                           Index symbols,
                           const WordGroups* words,
                           const LinkRule& rule);
// The links of a matrix between the words of both sides, as word_groups takes them. Throws SpecError where
// positions are not the source's symbols.
std::vector<Link> links_of(const Vocabulary& source,
                           std::span<const Token> source_tokens,
                           const Vocabulary& target,
                           std::span<const Token> target_tokens,
                           const AlignmentMatrix& attention,
                           const LinkRule& rule);

}  // namespace softalign
