// Corpus BLEU (Papineni et al. 2002) over tokens as they stand, equal to sacreBLEU's with
// tok:none, smooth:exp, eff:no and one reference. Sentences leave their sufficient statistics, so
// any subset or resample of a test set is scored without decoding again.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace softalign {

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

// How the score is made, in sacreBLEU's form; the version names this framework.
std::string bleu_signature();

}  // namespace softalign
