// Text metrics: code points, words, sacreBLEU's tokenisations, n-grams, BLEU and chrF. Words are separated by Unicode
// whitespace.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// Words of the unchanged text.
std::vector<std::string> tokenise_none(std::string_view utf8);
// mteval-v13a: separates ASCII punctuation, except full stops and commas between digits; used by WMT.
std::vector<std::string> tokenise_13a(std::string_view utf8);
// mteval-v14: separates punctuation and symbols of any script, unless next to numbers.
std::vector<std::string> tokenise_intl(std::string_view utf8);
// Single characters.
std::vector<std::string> tokenise_char(std::string_view utf8);

// Returns the tokenisation with this name: "none", "13a", "intl" or "char". Throws BugError for any other name.
using Tokenise = std::vector<std::string>(std::string_view utf8);
Tokenise* tokeniser(std::string_view name);

// Returns the code points of a text. Each byte of invalid UTF-8 becomes U+FFFD, because a hypothesis may end
// inside a character, which must count as a wrong character and not fail.
std::u32string decode_utf8(std::string_view utf8);

// Unicode whitespace as defined by Python's str.split(), which sacreBLEU uses.
bool is_space(char32_t code_point);

// Unicode's general categories P, S and N.
bool is_punctuation(char32_t code_point);
bool is_symbol(char32_t code_point);
bool is_number(char32_t code_point);

// Splits a text at Unicode whitespace. (In contrast, split_words of data/text.hpp splits corpora, at ASCII
// whitespace only.)
std::vector<std::string> unicode_words(std::string_view utf8);

// Counts of the n-grams that a sequence shares with references: over words for BLEU, over characters for chrF.
struct NgramCounts {
  std::int32_t hypothesis = 0;  // n-grams in the hypothesis
  std::int32_t reference = 0;   // n-grams in the references, each with its maximum over references
  std::int32_t matched = 0;     // n-grams in both, each with the smaller count ("clipped")
};

// Symbols may be any numbers: code points or word indices. n >= 1.
NgramCounts count_ngrams(std::u32string_view hypothesis,
                         std::span<const std::u32string> references,
                         int n);

// Corpus BLEU (Papineni et al. 2002), equal to sacreBLEU's with smooth:exp and eff:no; for its tokenisations see
// above. Sufficient statistics of each sentence are stored, so that any subset or resample of a test set can be
// scored without decoding again.

inline constexpr int kBleuOrder = 4;

// Counts of one sentence, in sacreBLEU's order: hypothesis length, reference length, correct 1- to
// 4-grams (clipped), 1- to 4-grams in the hypothesis. With several references, the reference length is the one
// closest to that of the hypothesis, or the shorter one in a tie.
using BleuStats = std::array<std::int32_t, 2 + 2 * kBleuOrder>;
using BleuSums = std::array<double, std::tuple_size_v<BleuStats>>;  // over the sentences

BleuStats bleu_stats(std::span<const std::string> hypothesis,
                     std::span<const std::vector<std::string>> references);
inline BleuStats bleu_stats(std::span<const std::string> hypothesis,
                            const std::vector<std::string>& reference) {
  return bleu_stats(hypothesis, {&reference, 1});
}

// Returns the BLEU of a corpus, 0..100, from the sum of its sentences' statistics. It is 0 without sentences,
// matches, or 4-grams in the hypotheses.
double bleu(const BleuSums& sums);

// Returns the factor of BLEU for hypotheses that are shorter than their references, 0..1; 0 without words.
double brevity_penalty(const BleuSums& sums);

// Returns the signature of the score ("none", "13a", ...) in sacreBLEU's form; the version names this framework.
std::string bleu_signature(const std::string& tokenisation);

// Corpus chrF2 (Popović 2015): character 1- to 6-grams without whitespace, recall counting
// twice; equal to the default of sacreBLEU 2. Sufficient statistics of each sentence are stored.

inline constexpr int kChrfOrder = 6;

// Counts of one sentence, in sacreBLEU's order: for n = 1..6 the n-grams in the hypothesis (0 if the
// reference has no n-grams), in the reference, and in both.
using ChrfStats = std::array<std::int32_t, 3 * kChrfOrder>;
using ChrfSums = std::array<double, std::tuple_size_v<ChrfStats>>;  // over the sentences

ChrfStats chrf_stats(std::string_view hypothesis, std::string_view reference);  // UTF-8
// Returns the counts for the reference with the highest chrF2, the first one in a tie.
ChrfStats chrf_stats(std::string_view hypothesis, std::span<const std::string_view> references);

// Returns the chrF2 of a corpus, 0..100, from the sum of its sentences' statistics; 0 without sentences. Precision
// and recall are means over the orders that both sides have ("effective order").
double chrf(const ChrfSums& sums);

// Returns the signature of the score in sacreBLEU's form; the version names this framework.
std::string chrf_signature();

// The signatures above begin with "nrefs:1|", for one reference. with_references replaces the number if there is one,
// and without_references removes "nrefs:...|".
std::string with_references(std::string_view signature, std::string_view count);
std::string_view without_references(std::string_view signature);
// Returns the number of references as in sacreBLEU's signatures: "2", or "var" if the numbers differ.
// further: the additional references of each sentence, "" for a missing one.
std::string count_references(std::span<const std::vector<std::string>> further);

}  // namespace softalign
