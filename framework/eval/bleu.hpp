// Corpus BLEU (Papineni et al. 2002), equal to sacreBLEU's with smooth:exp, eff:no and one reference; for its
// tokenisations see tokenise.hpp. Sentences leave their sufficient statistics, so
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

// Factor of a corpus for hypotheses that are shorter than their references, 0..1; 0 when there is no word.
double brevity_penalty(const BleuSums& sums);

// How the score is made, in sacreBLEU's form ("none", "13a", ..); the version names this framework.
std::string bleu_signature(const std::string& tokenisation);

}  // namespace softalign
