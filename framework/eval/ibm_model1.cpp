// An EM step iterates over source words, not over sentences: the probabilities of one source word
// are stored densely by target word, and every pair with this word reads them there. The
// co-occurrence table is never searched, so 28,000 pairs of 30 words take about a second.
#include "framework/eval/ibm_model1.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"

namespace softalign {
namespace {

std::size_t at(Index i) { return usize(i); }

// Concatenated lists: list i is [first[i], first[i + 1]) of the items.
template <class T>
struct Lists {
  std::vector<Index> first = {0};
  std::vector<T> items;

  std::span<const T> operator[](std::size_t i) const {
    return std::span(items).subspan(at(first[i]), at(first[i + 1] - first[i]));
  }
  std::size_t size() const { return first.size() - 1; }
  void append(std::span<const T> list) {
    items.insert(items.end(), list.begin(), list.end());
    first.push_back(static_cast<Index>(items.size()));
  }
};

Index vocabulary_size(const Examples& pairs, std::span<const Token> Example::*side) {
  Index size = 0;
  for (const Example pair : pairs) {
    for (const Token token : pair.*side) size = std::max(size, Index{token} + 1);
  }
  return size;
}

// Returns for each source word the pairs that it occurs in, once per occurrence; the empty word is the last one.
Lists<Index> pairs_by_word(const Examples& pairs, bool null_word) {
  const auto words = at(vocabulary_size(pairs, &Example::source)), count = pairs.size();
  Lists<Index> of;
  of.first.assign(words + 1, 0);
  for (const Example pair : pairs)
    for (const Token token : pair.source) ++of.first[at(token) + 1];
  std::partial_sum(of.first.begin(), of.first.end(), of.first.begin());
  std::vector<Index> next(of.first.begin(), of.first.end() - 1);
  of.items.reserve(at(of.first.back()) + (null_word ? count : 0));
  of.items.resize(at(of.first.back()));
  for (std::size_t k = 0; k < count; ++k)
    for (const Token token : pairs[k].source)
      of.items[at(next[at(token)]++)] = static_cast<Index>(k);
  if (!null_word) return of;
  of.items.resize(of.items.size() + count);
  std::iota(of.items.end() - static_cast<std::ptrdiff_t>(count), of.items.end(), Index{0});
  of.first.push_back(std::ssize(of.items));
  return of;
}

Lists<Token> targets_of(const Examples& pairs) {
  Lists<Token> target;
  for (const Example pair : pairs) target.append(pair.target);
  return target;
}

// Calls take(targets) for each source word with its distinct target words, unordered; `take` may change the list.
template <class Take>
void for_targets_of_words(const Lists<Index>& pairs_of,
                          const Lists<Token>& target,
                          Index target_words,
                          const Take& take) {
  std::vector<char> seen(at(target_words));
  std::vector<Token> distinct;
  for (std::size_t s = 0; s < pairs_of.size(); ++s) {
    distinct.clear();
    for (const Index k : pairs_of[s]) {
      for (const Token token : target[at(k)]) {
        if (!seen[at(token)]) distinct.push_back(token);
        seen[at(token)] = 1;
      }
    }
    for (const Token token : distinct) seen[at(token)] = 0;
    take(distinct);
  }
}

}  // namespace

IbmModel1::IbmModel1(const Examples& pairs, Index iterations, bool null_word) {
  const Index target_words = vocabulary_size(pairs, &Example::target);
  const Lists<Index> pairs_of = pairs_by_word(pairs, null_word);
  const auto source_words = std::ssize(pairs_of.first) - (null_word ? 2 : 1);
  const Lists<Token> target = targets_of(pairs);
  pairs.release();
  Lists<Token> table;
  for_targets_of_words(pairs_of, target, target_words, [&](std::vector<Token>& targets) {
    std::sort(targets.begin(), targets.end());
    table.append(targets);
  });
  if (source_words == 0 || table.items.empty()) {
    throw DataError(
        "IBM Model 1 needs a sentence pair with words on both sides, but there is none");
  }

  // A uniform start. Any constant works, because only ratios within a sentence pair matter.
  std::vector<double> probabilities(table.items.size(), 1);
  std::vector<double> total(target.items.size());  // sum over a pair's source of t(word | .)
  std::vector<double> t(at(target_words));         // t(. | the current source word)
  std::vector<double> expected(at(target_words));  // its expected counts
  const auto lay_out = [&](std::size_t s) {
    abandon_step_if_asked();
    for (Index c = table.first[s]; c < table.first[s + 1]; ++c) {
      t[at(table.items[at(c)])] = probabilities[at(c)];
    }
  };
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    std::fill(total.begin(), total.end(), 0);
    for (std::size_t s = 0; s < table.size(); ++s) {
      lay_out(s);
      for (const Index k : pairs_of[s]) {
        double* sum = total.data() + target.first[at(k)];
        for (const Token word : target[at(k)]) *sum++ += t[at(word)];
      }
    }
    for (std::size_t s = 0; s < table.size(); ++s) {
      lay_out(s);
      for (const Index k : pairs_of[s]) {
        const double* sum = total.data() + target.first[at(k)];
        for (const Token word : target[at(k)]) expected[at(word)] += t[at(word)] / *sum++;
      }
      double all = 0;
      for (const Token word : table[s]) all += expected[at(word)];
      for (Index c = table.first[s]; c < table.first[s + 1]; ++c) {
        double& count = expected[at(table.items[at(c)])];
        probabilities[at(c)] = count / all;
        count = 0;
      }
    }
  }

  table.first.resize(at(source_words) + 1);  // the empty word is only used in training
  first_ = std::move(table.first);
  targets_ = std::move(table.items);
  probabilities_ = std::move(probabilities);
}

Index IbmModel1::cells(const Examples& pairs) {
  Index count = 0;
  for_targets_of_words(pairs_by_word(pairs, true),
                       targets_of(pairs),
                       vocabulary_size(pairs, &Example::target),
                       [&](const std::vector<Token>& targets) { count += std::ssize(targets); });
  pairs.release();
  return count;
}

double IbmModel1::bytes(Index cells) {
  return static_cast<double>(cells) * (sizeof(Token) + sizeof(double));
}

double IbmModel1::bytes_of_training(double pairs, double source, double target) {
  return sizeof(Index) * (source + 2 * pairs) + (sizeof(Token) + sizeof(double)) * target;
}

double IbmModel1::probability(Token target, Token source) const {
  if (source < 0 || at(source) + 1 >= first_.size()) return 0;
  const auto begin = targets_.begin() + first_[at(source)];
  const auto end = targets_.begin() + first_[at(source) + 1];
  const auto place = std::lower_bound(begin, end, target);
  if (place == end || *place != target) return 0;
  return probabilities_[at(place - targets_.begin())];
}

AlignmentMatrix IbmModel1::weights(std::span<const Token> source,
                                   std::span<const Token> target) const {
  AlignmentMatrix matrix{std::ssize(target), std::ssize(source), {}};
  for (const Token word : target) {
    std::vector<double> t;
    for (const Token candidate : source) t.push_back(probability(word, candidate));
    const double sum = std::accumulate(t.begin(), t.end(), 0.0);
    for (const double one : t)
      matrix.weights.push_back(sum > 0 ? static_cast<float>(one / sum) : 0);
  }
  return matrix;
}

}  // namespace softalign
