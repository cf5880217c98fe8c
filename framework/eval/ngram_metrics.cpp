#include "framework/eval/ngram_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/tokenise.hpp"

namespace softalign {
namespace {

// All n-grams in order of their symbols, repeats kept.
std::vector<std::u32string_view> sorted_ngrams(std::u32string_view symbols, std::size_t n) {
  std::vector<std::u32string_view> ngrams;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) ngrams.push_back(symbols.substr(i, n));
  std::sort(ngrams.begin(), ngrams.end());
  return ngrams;
}

}  // namespace

NgramCounts count_ngrams(std::u32string_view hypothesis, std::u32string_view reference, int n) {
  const auto ours = sorted_ngrams(hypothesis, usize(n));
  const auto theirs = sorted_ngrams(reference, usize(n));
  std::vector<std::u32string_view> shared;  // std::set_intersection keeps the smaller multiplicity
  std::set_intersection(
      ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(shared));
  return {static_cast<std::int32_t>(ours.size()),
          static_cast<std::int32_t>(theirs.size()),
          static_cast<std::int32_t>(shared.size())};
}

namespace {

// Words as numbers: equal words get equal numbers.
std::u32string numbered(std::span<const std::string> words,
                        const std::vector<std::string_view>& sorted) {
  std::u32string numbers;
  for (const std::string& word : words) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), word);
    numbers.push_back(static_cast<char32_t>(place - sorted.begin()));
  }
  return numbers;
}

double log_brevity(const BleuSums& sum) { return std::min(0.0, 1 - sum[1] / sum[0]); }

}  // namespace

BleuStats bleu_stats(std::span<const std::string> hypothesis,
                     std::span<const std::string> reference) {
  std::vector<std::string_view> words(hypothesis.begin(), hypothesis.end());
  words.insert(words.end(), reference.begin(), reference.end());
  std::sort(words.begin(), words.end());
  const std::u32string ours = numbered(hypothesis, words), theirs = numbered(reference, words);

  BleuStats stats{};
  stats[0] = static_cast<std::int32_t>(ours.size());
  stats[1] = static_cast<std::int32_t>(theirs.size());
  for (int n = 1; n <= kBleuOrder; ++n) {
    const NgramCounts counts = count_ngrams(ours, theirs, n);
    stats[usize(1 + n)] = counts.matched;
    stats[usize(1 + kBleuOrder + n)] = counts.hypothesis;
  }
  return stats;
}

double bleu(const BleuSums& sum) {
  const double* correct = &sum[2];
  const double* total = &sum[2 + kBleuOrder];
  // Every order must have an n-gram to be right or wrong about, and one must be right at all.
  if (total[kBleuOrder - 1] == 0 || correct[0] == 0) return 0;

  double log_precision = 0;
  double smoothing = 1;  // doubles at each order without a match, as mteval-v13a does
  for (int n = 0; n < kBleuOrder; ++n) {
    const double matches = correct[n] > 0 ? correct[n] : 1 / (smoothing *= 2);
    log_precision += exact::log(matches / total[n]) / kBleuOrder;
  }
  return 100 * exact::exp(log_brevity(sum) + log_precision);
}

double brevity_penalty(const BleuSums& sum) {
  if (sum[0] == 0) return 0;
  return exact::exp(log_brevity(sum));
}

std::string bleu_signature(const std::string& tokenisation) {
  return "nrefs:1|case:mixed|eff:no|tok:" + tokenisation +
         "|smooth:exp|version:softalign-" SOFTALIGN_VERSION;
}

ChrfStats chrf_stats(std::string_view hypothesis, std::string_view reference) {
  std::u32string ours = decode_utf8(hypothesis), theirs = decode_utf8(reference);
  std::erase_if(ours, is_space);
  std::erase_if(theirs, is_space);

  ChrfStats stats{};
  for (int n = 1; n <= kChrfOrder; ++n) {
    const NgramCounts counts = count_ngrams(ours, theirs, n);
    const std::size_t at = usize(3 * (n - 1));
    stats[at] = counts.reference > 0 ? counts.hypothesis : 0;
    stats[at + 1] = counts.reference;
    stats[at + 2] = counts.matched;
  }
  return stats;
}

double chrf(const ChrfSums& sum) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (std::size_t at = 0; at < sum.size(); at += 3) {
    if (sum[at] == 0 || sum[at + 1] == 0) continue;
    precision += sum[at + 2] / sum[at];
    recall += sum[at + 2] / sum[at + 1];
    ++orders;
  }
  if (precision + recall == 0) return 0;
  constexpr double beta2 = 2 * 2;
  return 100 * (1 + beta2) * precision * recall / (beta2 * precision + recall) / orders;
}

std::string chrf_signature() {
  return "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-" SOFTALIGN_VERSION;
}

}  // namespace softalign
