// How many n-grams two sequences share: what BLEU counts over words and chrF over characters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace softalign {

struct NgramCounts {
  std::int32_t hypothesis = 0;  // n-grams in the hypothesis
  std::int32_t reference = 0;   // n-grams in the reference
  std::int32_t matched = 0;     // each found at most as often as the reference holds it ("clipped")
};

// Symbols are any numbers: code points, or the numbers of words. n >= 1.
NgramCounts count_ngrams(std::u32string_view hypothesis, std::u32string_view reference, int n);

// Corpus BLEU (Papineni et al. 2002), equal to sacreBLEU's with smooth:exp, eff:no and one reference; for its
// tokenisations see tokenise.hpp. Sentences leave their sufficient statistics, so
// any subset or resample of a test set is scored without decoding again.

inline constexpr int kBleuOrder = 4;

// Of one sentence, in sacreBLEU's order: hypothesis length, reference length, correct 1- to
// 4-grams (clipped), 1- to 4-grams in the hypothesis.
using BleuStats = std::array<std::int32_t, 2 + 2 * kBleuOrder>;
using BleuSums = std::array<double, std::tuple_size_v<BleuStats>>;  // over the sentences

BleuStats bleu_stats(std::span<const std::string> hypothesis,
                     std::span<const std::string> reference);

// BLEU of a corpus from the sum of its sentences' statistics, 0..100. 0 when there is no sentence,
// no match, or no 4-gram in any hypothesis.
double bleu(const BleuSums& sums);

// Factor of a corpus for hypotheses that are shorter than their references, 0..1; 0 when there is no word.
double brevity_penalty(const BleuSums& sums);

// How the score is made, in sacreBLEU's form ("none", "13a", ..); the version names this framework.
std::string bleu_signature(const std::string& tokenisation);

// Corpus chrF2 (Popović 2015): character 1- to 6-grams without white space, recall counting
// twice; equal to sacreBLEU 2's default. Sentences leave their sufficient statistics.

inline constexpr int kChrfOrder = 6;

// Of one sentence, in sacreBLEU's order: for n = 1..6 the n-grams in the hypothesis (0 when the
// reference has none), in the reference, and in both.
using ChrfStats = std::array<std::int32_t, 3 * kChrfOrder>;
using ChrfSums = std::array<double, std::tuple_size_v<ChrfStats>>;  // over the sentences

ChrfStats chrf_stats(std::string_view hypothesis, std::string_view reference);  // UTF-8

// chrF2 of a corpus from the sum of its sentences' statistics, 0..100; 0 for no sentence. Precision
// and recall are means over the orders that both sides have ("effective order").
double chrf(const ChrfSums& sums);

// How the score is made, in sacreBLEU's form; the version names this framework.
std::string chrf_signature();

}  // namespace softalign
