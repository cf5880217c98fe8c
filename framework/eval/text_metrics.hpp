// Metrics of text: its code points, its words, sacreBLEU's tokenisations, n-grams, BLEU and chrF. Words end at
// Unicode white space.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// The unchanged text.
std::vector<std::string> tokenise_none(std::string_view utf8);
// mteval-v13a: separates ASCII punctuation, except full stops and commas between digits; used by WMT.
std::vector<std::string> tokenise_13a(std::string_view utf8);
// mteval-v14: separates punctuation and symbols of any script, unless next to numbers.
std::vector<std::string> tokenise_intl(std::string_view utf8);
// Every character.
std::vector<std::string> tokenise_char(std::string_view utf8);

// The tokenisation of a name: "none", "13a", "intl", "char". Throws BugError for another one.
using Tokenise = std::vector<std::string>(std::string_view utf8);
Tokenise* tokeniser(std::string_view name);

// Code points of a text. A byte of invalid UTF-8 counts as one U+FFFD, because a hypothesis may end
// inside a character, which is a wrong character, not a failure.
std::u32string decode_utf8(std::string_view utf8);

// Unicode white space, as Python's str.split() knows it (sacreBLEU's notion).
bool is_space(char32_t code_point);

// Unicode's general categories P, S and N.
bool is_punctuation(char32_t code_point);
bool is_symbol(char32_t code_point);
bool is_number(char32_t code_point);

// The words of a text: its longest runs without Unicode white space. (data/text.hpp's split_words
// cuts corpora, at ASCII white space only.)
std::vector<std::string> unicode_words(std::string_view utf8);

// Counts the n-grams that a sequence shares with references: for BLEU over words, for chrF over characters.
struct NgramCounts {
  std::int32_t hypothesis = 0;  // n-grams in the hypothesis
  std::int32_t reference = 0;   // n-grams in the references, each as in the one that has most of it
  std::int32_t matched = 0;     // n-grams in both, each at most as often ("clipped")
};

// Symbols are any numbers: code points, or the numbers of words. n >= 1.
NgramCounts count_ngrams(std::u32string_view hypothesis,
                         std::span<const std::u32string> references,
                         int n);

// Corpus BLEU (Papineni et al. 2002), equal to sacreBLEU's with smooth:exp and eff:no; for its tokenisations see
// above. Sentences leave their sufficient statistics, so any subset or resample of a test set is scored without
// decoding again.

inline constexpr int kBleuOrder = 4;

// Counts of one sentence, in sacreBLEU's order: hypothesis length, reference length, correct 1- to
// 4-grams (clipped), 1- to 4-grams in the hypothesis. Of several references the length is the one closest to the
// hypothesis, the shorter of two.
using BleuStats = std::array<std::int32_t, 2 + 2 * kBleuOrder>;
using BleuSums = std::array<double, std::tuple_size_v<BleuStats>>;  // over the sentences

BleuStats bleu_stats(std::span<const std::string> hypothesis,
                     std::span<const std::vector<std::string>> references);
inline BleuStats bleu_stats(std::span<const std::string> hypothesis,
                            const std::vector<std::string>& reference) {
  return bleu_stats(hypothesis, {&reference, 1});
}

// BLEU of a corpus from the sum of its sentences' statistics, 0..100. 0 without sentences, matches,
// or 4-grams in the hypotheses.
double bleu(const BleuSums& sums);

// Factor of a corpus for hypotheses that are shorter than their references, 0..1; 0 without words.
double brevity_penalty(const BleuSums& sums);

// Returns the signature of the score in sacreBLEU's form ("none", "13a", ..); the version names this framework.
std::string bleu_signature(const std::string& tokenisation);

// Corpus chrF2 (Popović 2015): character 1- to 6-grams without white space, recall counting
// twice; equal to sacreBLEU 2's default. Sentences leave their sufficient statistics.

inline constexpr int kChrfOrder = 6;

// Counts of one sentence, in sacreBLEU's order: for n = 1..6 the n-grams in the hypothesis (0 when the
// reference has none), in the reference, and in both.
using ChrfStats = std::array<std::int32_t, 3 * kChrfOrder>;
using ChrfSums = std::array<double, std::tuple_size_v<ChrfStats>>;  // over the sentences

ChrfStats chrf_stats(std::string_view hypothesis, std::string_view reference);  // UTF-8
// Returns the counts of the reference with the highest chrF2, of several the first.
ChrfStats chrf_stats(std::string_view hypothesis, std::span<const std::string_view> references);

// chrF2 of a corpus from the sum of its sentences' statistics, 0..100; 0 for no sentence. Precision
// and recall are means over the orders that both sides have ("effective order").
double chrf(const ChrfSums& sums);

// Returns the signature of the score in sacreBLEU's form; the version names this framework.
std::string chrf_signature();

// Both signatures are of one reference, "nrefs:1|...". These change the number, and remove it from any signature.
std::string with_references(std::string_view signature, std::string_view count);
std::string_view without_references(std::string_view signature);
// Returns the number of references as in sacreBLEU's signatures: "2", or "var" if the numbers differ.
// further: the further references of each sentence, "" for a missing one.
std::string count_references(std::span<const std::vector<std::string>> further);

}  // namespace softalign
