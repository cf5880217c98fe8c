#include "framework/eval/words.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "framework/base/types.hpp"

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

}  // namespace softalign
