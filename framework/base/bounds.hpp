// How large the things of an experiment may be, so that a slip of the pen is refused where it is
// written and not by a machine out of memory. Generous: nobody trains at these bounds.
#pragma once

#include "framework/base/types.hpp"

namespace softalign {

inline constexpr Index kLargestLayer = 65536;      // units, embeddings
inline constexpr Index kLargestModel = 1LL << 40;  // trainable numbers; no machine holds so many
inline constexpr Index kLargestBatch = 65536;      // sentences
inline constexpr Index kMostTokens = 100000000;    // of a batch
inline constexpr Index kLongestSentence = 10000;   // tokens; more: a file without line ends
inline constexpr Index kMostSentences = 10000000;  // of a split
inline constexpr Index kMostSymbols = 1000000;     // of a vocabulary
inline constexpr Index kLargestWeight = 1000;      // of a training file
inline constexpr Index kMostEpochs = 1000000;
inline constexpr Index kMostUpdates = 1000000000;

}  // namespace softalign
