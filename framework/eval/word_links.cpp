#include "framework/eval/word_links.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "framework/base/types.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/ibm_model1.hpp"

namespace softalign {
namespace {

// A row for each target symbol but </s>, and the words of both sides.
struct SymbolRows {
  AlignmentMatrix matrix;
  WordGroups words;
  Index sources = 0;  // words

  // sources: symbols without </s>; words: null: all symbols are words.
  SymbolRows(AlignmentMatrix rows, Index source_symbols, const WordGroups* given)
      : matrix(std::move(rows)) {
    if (given != nullptr) words = *given;
    words.source.resize(usize(matrix.positions));
    words.target.resize(usize(matrix.steps));
    if (given == nullptr) std::iota(words.source.begin(), words.source.end(), Index{0});
    if (given == nullptr) std::iota(words.target.begin(), words.target.end(), Index{0});
    if (source_symbols > 0) sources = words.source[usize(source_symbols - 1)] + 1;
  }

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
  const auto& [source, target, links, source_text, target_text] = sentence.example;
  const Index positions = sentence.attention->positions, symbols = std::ssize(source);
  return SymbolRows(rows_of_symbols(*sentence.attention, std::ssize(target), sentence.row_aligns),
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

}  // namespace softalign
