// The random numbers of dropout, for operations that drop numbers themselves.
#pragma once

#include <cstdint>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

namespace softalign::ops {

using Keep = std::uint8_t;  // 0: dropped

inline std::uint32_t least_kept(double rate) { return static_cast<std::uint32_t>(rate * 0x1p32); }

// Draws `count` numbers of a row. Random words come in blocks of four; `other` numbers the rows of a sentence
// and step (round), whose blocks are 2^32 apart.
void draw(const RandomStream& stream,
          std::uint64_t round,
          Index other,
          std::uint32_t least,
          Index count,
          Keep* keep);

}  // namespace softalign::ops
