#include "framework/eval/alignments.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/counts.hpp"
#include "framework/eval/ibm_model1.hpp"

namespace softalign {
namespace {

Index count_of(const std::vector<Index>& word_of) {
  return word_of.empty() ? 0 : word_of.back() + 1;
}

std::vector<Index> words_of(const Vocabulary& vocabulary,
                            std::span<const Token> tokens,
                            Index positions) {
  std::vector<Index> words = vocabulary.word_of_pieces(tokens);
  while (std::ssize(words) < positions) words.push_back(count_of(words));
  return words;
}

}  // namespace

std::optional<WordGroups> word_groups(const Vocabulary& source,
                                      std::span<const Token> source_tokens,
                                      const Vocabulary& target,
                                      std::span<const Token> target_tokens,
                                      const AlignmentMatrix& matrix) {
  if (!source.has_pieces() && !target.has_pieces()) return {};
  if (matrix.positions != std::ssize(source_tokens) + 1) return {};
  return WordGroups{words_of(source, source_tokens, matrix.positions),
                    words_of(target, target_tokens, matrix.steps)};
}

AlignmentMatrix join(const AlignmentMatrix& pieces, const WordGroups& words) {
  AlignmentMatrix joined{count_of(words.target), count_of(words.source), {}};
  std::vector<double> sums(usize(joined.steps * joined.positions));
  std::vector<Index> steps(usize(joined.steps));  // pieces of each target word
  for (Index t = 0; t < pieces.steps; ++t) {
    const Index word = words.target[usize(t)];
    ++steps[usize(word)];
    for (Index s = 0; s < pieces.positions; ++s)
      sums[usize(word * joined.positions + words.source[usize(s)])] +=
          static_cast<double>(pieces.weights[usize(t * pieces.positions + s)]);
  }
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const Index of = steps[at / usize(joined.positions)];
    joined.weights.push_back(static_cast<float>(sums[at] / static_cast<double>(of)));
  }
  return joined;
}

std::vector<Link> join(std::span<const Link> pieces, const WordGroups& words) {
  std::map<std::pair<Index, Index>, bool> sure;
  for (const Link& link : pieces)
    sure[{words.source[usize(link.source)], words.target[usize(link.target)]}] |= link.sure;
  std::vector<Link> joined;
  for (const auto& [at, is_sure] : sure) joined.push_back({at.first, at.second, is_sure});
  return joined;
}

std::vector<std::string> word_names(const Vocabulary& vocabulary,
                                    std::span<const Token> tokens,
                                    const std::vector<Index>& word_of) {
  std::vector<std::vector<Token>> pieces(usize(count_of(word_of)));
  for (std::size_t i = 0; i < tokens.size(); ++i) pieces[usize(word_of[i])].push_back(tokens[i]);
  std::vector<std::string> names;
  for (const std::vector<Token>& word : pieces)
    names.push_back(word.empty() ? vocabulary.symbol(kEnd) : vocabulary.join(word));
  return names;
}

namespace {

// Returns the words of the first `symbols` symbols; without `words` (null), each symbol is a word.
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
  Index sources = 0;  // number of source words

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

// Returns the row of each target symbol; rows that a search did not reach are 0.
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
        "links: the encoder's annotations are not source symbols, so words cannot be linked");
  const auto words = word_groups(source, source_tokens, target, target_tokens, attention);
  return links_of(attention, std::ssize(target_tokens), words ? &*words : nullptr, rule);
}

}  // namespace softalign
