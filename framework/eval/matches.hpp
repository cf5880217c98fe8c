// How a hypothesis agrees with its reference, symbol by symbol.
#pragma once

#include <span>
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

// Equal token by token, with the same rule for <unk>.
bool is_exact(std::span<const Token> hypothesis, std::span<const Token> reference);

}  // namespace softalign
