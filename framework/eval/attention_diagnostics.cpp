#include "framework/eval/attention_diagnostics.hpp"

#include <algorithm>
#include <cstddef>

#include "framework/base/elementary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

std::vector<real> row_of(const AlignmentMatrix& matrix, Index step) {
  const auto begin = matrix.weights.begin() + step * matrix.positions;
  return {begin, begin + matrix.positions};
}

double entropy(std::span<const real> weights) {
  double sum = 0;
  for (const real weight : weights)
    if (const double w = weight; w > 0) sum -= w * exact::log(w);
  return sum;
}

std::vector<Index> points_at(std::span<const real> weights) {
  if (weights.empty()) throw BugError("points_at of an empty row");
  const real largest = *std::max_element(weights.begin(), weights.end());
  std::vector<Index> positions;
  for (std::size_t i = 0; i < weights.size() && largest > 0; ++i)
    if (weights[i] == largest) positions.push_back(static_cast<Index>(i));
  if (positions.size() > 1 && positions.size() == weights.size()) positions.clear();
  return positions;
}

std::vector<std::vector<Index>> words_point_at(const AlignmentMatrix& pieces,
                                               const WordGroups& words) {
  const AlignmentMatrix joined = join(pieces, words);
  std::vector<bool> points(usize(joined.steps));
  for (Index t = 0; t < pieces.steps; ++t)
    if (!points_at(row_of(pieces, t)).empty()) points[usize(words.target[usize(t)])] = true;
  std::vector<std::vector<Index>> pointed(usize(joined.steps));
  for (Index t = 0; t < joined.steps; ++t)
    if (points[usize(t)]) pointed[usize(t)] = points_at(row_of(joined, t));
  return pointed;
}

Count point_count(std::vector<std::vector<Index>> pointed, std::span<const Link> links) {
  std::vector<bool> linked(pointed.size()), points(pointed.size());
  for (std::size_t j = 0; j < pointed.size(); ++j) points[j] = !pointed[j].empty();
  for (const Link& link : links) {
    if (link.target < 0 || link.target >= static_cast<Index>(pointed.size())) {
      throw BugError("a link to target token {} of {}", link.target, pointed.size());
    }
    if (!link.sure) continue;
    const auto j = usize(link.target);
    linked[j] = true;
    std::erase(pointed[j], link.source);
  }
  Count count{0, std::count(linked.begin(), linked.end(), true)};
  for (std::size_t j = 0; j < pointed.size(); ++j)
    if (points[j] && pointed[j].empty()) ++count.hits;
  return count;
}

Count position_matches(std::span<const Token> hypothesis, std::span<const Token> reference) {
  Count count;
  count.total = std::max(std::ssize(hypothesis), std::ssize(reference));
  for (std::size_t i = 0; i < std::min(hypothesis.size(), reference.size()); ++i) {
    count.hits += hypothesis[i] == reference[i] && reference[i] != kUnknown;
  }
  return count;
}

bool is_exact(std::span<const Token> tokens,
              std::string_view text,
              std::string_view reference,
              Index replaced) {
  return std::ranges::count(tokens, kUnknown) == replaced &&
         split_words(text) == split_words(reference);
}

}  // namespace softalign
