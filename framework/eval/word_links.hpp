// Weights as links between words: where target words point, beside the links that are known. Nothing is linked to
// </s>. Symbols that are pieces are joined to words (eval/words.hpp), those of the rows' own convention (RowAligns).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "framework/eval/evaluated_sentence.hpp"

namespace softalign {

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
// The same between the words of both sides, as word_groups takes them. Throws SpecError where positions are not the source's
// symbols.
std::vector<Link> links_of(const Vocabulary& source,
                           std::span<const Token> source_tokens,
                           const Vocabulary& target,
                           std::span<const Token> target_tokens,
                           const AlignmentMatrix& attention,
                           const LinkRule& rule);

}  // namespace softalign
