#include "framework/data/batches.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace softalign {
namespace {

const Example& at(const Split& split, Index i) {
  return split.examples[static_cast<std::size_t>(i)];
}

// The last part may be smaller.
Batches cut(std::span<const Index> examples, Index size) {
  Batches parts;
  while (!examples.empty()) {
    const auto part = examples.first(std::min(examples.size(), static_cast<std::size_t>(size)));
    parts.emplace_back(part.begin(), part.end());
    examples = examples.subspan(part.size());
  }
  return parts;
}

}  // namespace

Batches epoch_batches(const Split& split,
                      const BatchOptions& options,
                      std::uint64_t seed,
                      Index epoch) {
  const auto round = static_cast<std::uint64_t>(epoch);
  const auto order = RandomStream(seed, "shuffle").permutation(std::ssize(split.examples), round);
  const RandomStream batch_stream(seed, "shuffle/batches");
  const auto length = [&](Index i) {
    return std::ssize(at(split, i).source) + std::ssize(at(split, i).target);
  };

  Batches plan;
  std::uint64_t number = 0;
  for (std::vector<Index>& pool : cut(order, options.sentences * options.pool)) {
    std::stable_sort(
        pool.begin(), pool.end(), [&](Index a, Index b) { return length(a) > length(b); });
    Batches batches = cut(pool, options.sentences);
    for (const Index k : batch_stream.permutation(std::ssize(batches), round << 32 | number))
      plan.push_back(std::move(batches[static_cast<std::size_t>(k)]));
    ++number;
  }
  return plan;
}

Batches evaluation_batches(const Split& split, Index sentences) {
  std::vector<Index> order(split.examples.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto key = [&](Index i) {
    return std::tuple(-std::ssize(at(split, i).source), -std::ssize(at(split, i).target), i);
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  return cut(order, sentences);
}

Batches cut_into_shards(std::span<const Index> batch, Index shards) {
  if (shards < 1 || !std::has_single_bit(static_cast<std::uint64_t>(shards)))
    throw SpecError("shards: {} is not a power of two", shards);
  Batches parts;
  for (Index k = 0; k < shards; ++k) {
    const Index begin = std::ssize(batch) * k / shards;
    const Index end = std::ssize(batch) * (k + 1) / shards;
    parts.emplace_back(batch.begin() + begin, batch.begin() + end);
  }
  return parts;
}

}  // namespace softalign
