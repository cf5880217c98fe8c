#include "framework/eval/word_links.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/ibm_model1.hpp"

namespace softalign {
namespace {

// The words of the first symbols; null: each is one.
std::vector<Index> words_of(const std::vector<Index>* words, Index symbols) {
  std::vector<Index> first(usize(symbols));
  if (words != nullptr)
    std::copy_n(words->begin(), symbols, first.begin());
  else
    std::iota(first.begin(), first.end(), Index{0});
  return first;
}

// A row for each target symbol but </s>, and the words of both sides.
struct SymbolRows {
  AlignmentMatrix matrix;
  WordGroups words;
  Index sources = 0;  // words

  // source_symbols: without </s>.
  SymbolRows(AlignmentMatrix rows, Index source_symbols, const WordGroups* given)
      : matrix(std::move(rows)),
        words{words_of(given ? &given->source : nullptr, matrix.positions),
              words_of(given ? &given->target : nullptr, matrix.steps)},
        sources(source_symbols > 0 ? words.source[usize(source_symbols - 1)] + 1 : 0) {}

  WordLinks links(std::span<const Link> known) const {
    return {words_point_at(matrix, words), join(known, words), sources};
  }
};

// A row that a search did not come to is 0.
AlignmentMatrix rows_of_symbols(const AlignmentMatrix& attention, Index symbols, RowAligns aligns) {
  AlignmentMatrix rows{symbols, attention.positions, attention.weights};
  if (aligns == RowAligns::read && attention.steps > 0)
    rows.weights.erase(rows.weights.begin(), rows.weights.begin() + rows.positions);
  rows.weights.resize(usize(rows.steps * rows.positions));
  return rows;
}

}  // namespace

WordLinks attention_links(const EvaluatedSentence& sentence) {
  if (sentence.links.empty()) return {};
  const Example& example = sentence.example;
  const Index positions = sentence.attention->positions,
              symbols = example.frames.empty() ? std::ssize(example.source) : positions;
  return SymbolRows(
             rows_of_symbols(*sentence.attention, std::ssize(example.target), sentence.row_aligns),
             positions == symbols + 1 ? symbols : positions,
             sentence.words)
      .links(sentence.links);
}

WordLinks ibm_model1_links(const EvaluatedSentence& sentence) {
  const Example& example = sentence.example;
  if (example.links.empty()) return {};
  return SymbolRows(sentence.ibm_model1->weights(example.source, example.target),
                    std::ssize(example.source),
                    sentence.words)
      .links(example.links);
}

LinkCounts link_counts(const WordLinks& links) {
  LinkCounts counts{};
  std::set<std::pair<Index, Index>> predicted;
  for (std::size_t j = 0; j < links.pointed.size(); ++j)
    for (const Index i : links.pointed[j])
      if (i < links.sources) predicted.emplace(i, static_cast<Index>(j));
  counts[0] = static_cast<double>(predicted.size());
  for (const Link& link : links.known) {
    const double hit = predicted.contains({link.source, link.target}) ? 1 : 0;
    counts[1] += link.sure ? hit : 0;
    counts[2] += hit;
    counts[3] += link.sure ? 1 : 0;
  }
  return counts;
}

std::vector<Link> links_of(const AlignmentMatrix& attention,
                           Index symbols,
                           const WordGroups* words,
                           const LinkRule& rule) {
  const SymbolRows rows(
      rows_of_symbols(attention, symbols, rule.rows), attention.positions - 1, words);
  const AlignmentMatrix joined = join(rows.matrix, rows.words);
  std::vector<std::vector<Index>> pointed(usize(joined.steps));
  if (!rule.threshold) pointed = words_point_at(rows.matrix, rows.words);
  std::vector<Link> links;
  for (Index i = 0; i < rows.sources; ++i)
    for (Index j = 0; j < joined.steps; ++j)
      if (rule.threshold ? joined.weights[usize(j * joined.positions + i)] >= *rule.threshold
                         : std::ranges::count(pointed[usize(j)], i) > 0)
        links.push_back({i, j, true});
  return links;
}

std::vector<Link> links_of(const Vocabulary& source,
                           std::span<const Token> source_tokens,
                           const Vocabulary& target,
                           std::span<const Token> target_tokens,
                           const AlignmentMatrix& attention,
                           const LinkRule& rule) {
  if (attention.positions != std::ssize(source_tokens) + 1)
    throw SpecError(
        "links: the encoder's annotations are not the source's symbols, so no words can be linked");
  const auto words = word_groups(source, source_tokens, target, target_tokens, attention);
  return links_of(attention, std::ssize(target_tokens), words ? &*words : nullptr, rule);
}

}  // namespace softalign
