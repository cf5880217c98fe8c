// How many n-grams two sequences share: what BLEU counts over words and chrF over characters.
#pragma once

#include <cstdint>
#include <string_view>

namespace softalign {

struct NgramCounts {
  std::int32_t hypothesis = 0;  // n-grams in the hypothesis
  std::int32_t reference = 0;   // n-grams in the reference
  std::int32_t matched = 0;     // each found at most as often as the reference holds it ("clipped")
};

// Symbols are any numbers: code points, or the numbers of words. n >= 1.
NgramCounts count_ngrams(std::u32string_view hypothesis, std::u32string_view reference, int n);

}  // namespace softalign
