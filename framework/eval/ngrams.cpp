#include "framework/eval/ngrams.hpp"
#include "framework/base/types.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

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

}  // namespace softalign
