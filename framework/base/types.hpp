// The scalar and index types of the whole framework.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace softalign {

// float in the program; the same sources built with SOFTALIGN_DOUBLE serve the gradient checks. No
// template has the scalar as its parameter.
#ifdef SOFTALIGN_DOUBLE
using real = double;
#else
using real = float;
#endif

using Index = std::int64_t;  // sizes, positions, counts
using Token = std::int32_t;  // index of a symbol in a vocabulary

// NaN: not measured, or not defined.
inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// A signed index or count, not negative, as the standard library counts.
constexpr std::size_t usize(std::integral auto index) { return static_cast<std::size_t>(index); }

}  // namespace softalign
