// How a hypothesis agrees with its reference.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Hits out of a total.
struct Count {
  Index hits = 0;
  Index total = 0;
};

// Positions at which both have the same token, of the longer one's length: what is missing or too
// much is wrong. <unk> matches nothing, not even itself: an unknown word is no answer.
Count position_matches(std::span<const Token> hypothesis, std::span<const Token> reference);

// Whether the text of a hypothesis is that of its reference, however much white space is between words.
// tokens: of the hypothesis; none of them may be <unk>.
bool is_exact(std::span<const Token> tokens, std::string_view text, std::string_view reference);

}  // namespace softalign
