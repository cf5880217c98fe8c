#include "framework/eval/matches.hpp"

#include <algorithm>
#include <cstddef>

#include "framework/data/vocabulary.hpp"

namespace softalign {

Count position_matches(std::span<const Token> hypothesis, std::span<const Token> reference) {
  Count count;
  count.total = std::max(std::ssize(hypothesis), std::ssize(reference));
  for (std::size_t i = 0; i < std::min(hypothesis.size(), reference.size()); ++i) {
    count.hits += hypothesis[i] == reference[i] && reference[i] != kUnknown;
  }
  return count;
}

bool is_exact(std::span<const Token> hypothesis, std::span<const Token> reference) {
  const Count count = position_matches(hypothesis, reference);
  return count.hits == count.total;
}

}  // namespace softalign
