// Corpus chrF2 (Popović 2015): character 1- to 6-grams without white space, recall counting
// twice; equal to sacreBLEU 2's default. Sentences leave their sufficient statistics.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace softalign {

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
