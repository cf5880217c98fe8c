#include "framework/eval/matches.hpp"

#include <algorithm>
#include <cstddef>

#include "framework/data/text.hpp"
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

bool is_exact(std::span<const Token> tokens, std::string_view text, std::string_view reference) {
  return std::ranges::find(tokens, kUnknown) == tokens.end() &&
         split_words(text) == split_words(reference);
}

}  // namespace softalign
