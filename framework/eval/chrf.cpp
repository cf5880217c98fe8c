#include "framework/eval/chrf.hpp"

#include <cstddef>

#include "framework/base/types.hpp"
#include "framework/eval/ngrams.hpp"
#include "framework/eval/unicode.hpp"

namespace softalign {

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
