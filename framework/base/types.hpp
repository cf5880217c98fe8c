// The scalar and index types of the whole framework, and limits on sizes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace softalign {

// float in the program; gradient checks use the same sources built with SOFTALIGN_DOUBLE. No
// template has the scalar type as a parameter.
#ifdef SOFTALIGN_DOUBLE
using real = double;
#else
using real = float;
#endif

using Index = std::int64_t;  // sizes, positions, counts
using Token = std::int32_t;  // index of a symbol in a vocabulary

// NaN: not measured, or not defined.
inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Converts a non-negative index or count to the unsigned type of the standard library.
constexpr std::size_t usize(std::integral auto index) { return static_cast<std::size_t>(index); }

// Limits on sizes, so that a typing error is reported at its position before the machine runs out
// of memory. They are generous: no training comes near them.

inline constexpr Index kLargestLayer = 65536;  // units, embeddings
inline constexpr Index kLargestModel = 1LL
                                       << 40;  // trainable numbers; more than any machine's memory
inline constexpr Index kLargestBatch = 65536;  // sentences
inline constexpr Index kMostGroups = 1024;     // of a batch
inline constexpr Index kMostTokens = 100000000;    // of a batch
inline constexpr Index kLongestSentence = 10000;   // tokens; only a file without line ends has more
inline constexpr Index kMostSentences = 10000000;  // of a split
inline constexpr Index kMostSymbols = 1000000;     // of a vocabulary
inline constexpr Index kLargestWeight = 1000;      // of a training file
inline constexpr Index kMostEpochs = 1000000;
inline constexpr Index kMostUpdates = 1000000000;

}  // namespace softalign
