#include "framework/data/batches.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

// `count` pairs of random lengths: 4 to 60 on the source side, similar on the target side.
Split random_split(Index count) {
  const RandomStream stream(5, "test/lengths");
  std::vector<std::pair<Index, Index>> lengths;
  for (Index i = 0; i < count; ++i) {
    const Index source = 4 + stream.below(57, static_cast<std::uint64_t>(i));
    lengths.emplace_back(
        source, std::max<Index>(1, source + stream.below(7, static_cast<std::uint64_t>(i), 1) - 3));
  }
  return split_of(lengths);
}

Index length(const Split& split, Index i) { return split.examples.rows()[usize(i)].length(); }

std::vector<Index> all_of(const Batches& batches) {
  return {batches.examples().begin(), batches.examples().end()};
}

using Lists = std::vector<std::vector<Index>>;

Lists lists_of(const Batches& batches) {
  Lists lists;
  for (const auto batch : batches) lists.emplace_back(batch.begin(), batch.end());
  return lists;
}

// The plan of an epoch by its definition, for batches of a number of sentences or of tokens.
Lists defined_plan(const Split& split,
                   const BatchOptions& options,
                   std::uint64_t seed,
                   Index epoch) {
  const auto& rows = split.examples.rows();
  const auto round = static_cast<std::uint64_t>(epoch);
  const auto order = RandomStream(seed, "shuffle").permutation(std::ssize(rows), round);
  const auto positions = [&](Index i) {
    return Index{std::max(rows[usize(i)].source, rows[usize(i)].target)} + 1;
  };
  Lists plan;
  std::uint64_t number = 0;
  for (auto begin = order.begin(); begin != order.end(); ++number) {
    auto end = begin;
    if (options.tokens)
      for (Index sum = 0; end != order.end() && sum < *options.tokens * options.pool; ++end)
        sum += positions(*end);
    else
      end += std::min(options.sentences * options.pool, order.end() - begin);
    std::vector<Index> pool(begin, end);
    std::ranges::stable_sort(pool, std::greater(), [&](Index i) { return length(split, i); });
    Lists batches;
    Index longest = 0;
    for (const Index i : pool) {
      longest = std::max(longest, positions(i));
      if (batches.empty() || std::ssize(batches.back()) >= most_pairs(options, longest)) {
        batches.emplace_back();
        longest = positions(i);
      }
      batches.back().push_back(i);
    }
    const RandomStream stream(seed, "shuffle/batches");
    for (const Index k : stream.permutation(std::ssize(batches), round << 32 | number))
      plan.push_back(batches[usize(k)]);
    begin = end;
  }
  return plan;
}

void each_once(const Batches& batches, Index count) {
  std::vector<Index> all = all_of(batches), expected(usize(count));
  std::iota(expected.begin(), expected.end(), Index{0});
  std::sort(all.begin(), all.end());
  BOOST_TEST(all == expected);
}

BatchOptions options(Index sentences, Index pool) {
  BatchOptions result;
  result.sentences = sentences;
  result.pool = pool;
  return result;
}

// The ratio of padding to tokens in the parts of all batches, on both sides.
double padding(const Split& split, const Batches& batches, Index parts) {
  Index steps = 0, tokens = 0;
  for (const auto batch : batches)
    for (const auto part : cut_into_parts(split, batch, parts)) {
      Index source = 0, target = 0;
      for (const Index i : part) {
        const Example example = split.examples[usize(i)];
        source = std::max(source, std::ssize(example.source) + 1);
        target = std::max(target, std::ssize(example.target) + 1);
        tokens += length(split, i) + 2;
      }
      steps += std::ssize(part) * (source + target);
    }
  return static_cast<double>(steps) / static_cast<double>(tokens) - 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_plan)

BOOST_AUTO_TEST_CASE(an_epoch_holds_each_example_once) {
  for (const Index count : {1, 63, 64, 65, 1280, 1281, 3001})
    for (const Index pool : {1, 20}) {
      const Split split = random_split(count);
      const Batches plan = epoch_batches(split, options(64, pool), 1, 3);
      each_once(plan, count);
      BOOST_TEST(std::ssize(plan) == (count + 63) / 64);
      BOOST_TEST(std::ranges::count_if(lists_of(plan), [](const auto& b) {
                   return b.size() != 64;
                 }) == (count % 64 ? 1 : 0));
    }
}

BOOST_AUTO_TEST_CASE(a_plan_is_the_defined_one_whatever_the_lengths) {
  std::vector<std::pair<Index, Index>> lengths;
  for (Index i = 0; i < 300; ++i) lengths.emplace_back(1 + 37 * i % 16, 1 + 11 * i % 16);
  for (const Index longest : {16, 16382, 16383, 16384, 40000}) {
    lengths[17] = {longest, 1};
    lengths[171] = {2, longest};
    const Split split = split_of(lengths);
    for (BatchOptions how : {options(7, 3), options(300, 20), options(1, 1)}) {
      BOOST_TEST((lists_of(epoch_batches(split, how, 1, 2)) == defined_plan(split, how, 1, 2)));
      how.tokens = 50;
      BOOST_TEST((lists_of(epoch_batches(split, how, 1, 2)) == defined_plan(split, how, 1, 2)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_portion_is_trained_on_as_often_as_its_weight_says) {
  Split split = random_split(105);
  const Batches plain = epoch_batches(split, options(8, 3), 1, 2);
  split.portions = {{30, 1}, {75, 1}};
  BOOST_TEST((epoch_batches(split, options(8, 3), 1, 2) == plain));

  split.portions = {{10, 2}, {40, 0.5}, {50, 0}, {5, 1.4}};
  BOOST_TEST(examples_per_epoch(split) == 20 + 20 + 0 + 7);
  std::set<std::vector<Index>> halves;
  for (Index epoch = 0; epoch < 20; ++epoch) {
    std::vector<Index> times(105);
    for (const Index i : all_of(epoch_batches(split, options(8, 3), 1, epoch))) ++times[usize(i)];
    const auto count = [&](Index begin, Index end, Index n) {
      return std::count(times.begin() + begin, times.begin() + end, n);
    };
    BOOST_TEST(count(0, 10, 2) == 10);
    BOOST_TEST(count(10, 50, 1) == 20);
    BOOST_TEST(count(10, 50, 0) == 20);
    BOOST_TEST(count(50, 100, 0) == 50);
    BOOST_TEST(count(100, 105, 1) == 3);
    BOOST_TEST(count(100, 105, 2) == 2);
    halves.insert(std::vector(times.begin() + 10, times.begin() + 50));
  }
  BOOST_TEST(halves.size() == 20u);  // drawn anew in each epoch
}

BOOST_AUTO_TEST_CASE(a_batch_of_tokens_is_as_full_as_its_longest_sentence_lets_it_be) {
  for (const Index tokens : {1, 61, 500, 4096}) {
    const Split split = random_split(3001);
    const auto positions = [&](Index i) {
      const ExampleRow& row = split.examples.rows()[usize(i)];
      return Index{std::max(row.source, row.target)} + 1;
    };
    const auto longest = [&](std::span<const Index> batch) {
      Index most = 0;
      for (const Index i : batch) most = std::max(most, positions(i));
      return most;
    };
    BatchOptions by_tokens = options(64, 20);
    by_tokens.tokens = tokens;
    const Batches plan = epoch_batches(split, by_tokens, 1, 3);
    each_once(plan, 3001);
    Index full = 0;
    for (const auto batch : plan) {
      BOOST_TEST((batch.size() == 1 || std::ssize(batch) * longest(batch) <= tokens));
      full += std::ssize(batch) * longest(batch);
    }
    if (tokens >= 500) BOOST_TEST(full > 0.85 * static_cast<double>(tokens * std::ssize(plan)));
    BOOST_TEST((plan == epoch_batches(split, by_tokens, 1, 3)));
    BOOST_TEST((lists_of(plan) == defined_plan(split, by_tokens, 1, 3)));
  }
}

BOOST_AUTO_TEST_CASE(a_batch_is_sorted_and_a_pool_is_cut_by_length) {
  const Split split = random_split(1280);
  const auto longer = [&](Index a, Index b) { return length(split, a) > length(split, b); };
  Lists plan = lists_of(epoch_batches(split, options(64, 20), 1, 0));
  for (const auto& batch : plan) BOOST_TEST(std::is_sorted(batch.begin(), batch.end(), longer));
  BOOST_TEST(!std::is_sorted(
      plan.begin(), plan.end(), [&](const auto& a, const auto& b) { return longer(a[0], b[0]); }));
  std::sort(
      plan.begin(), plan.end(), [&](const auto& a, const auto& b) { return longer(a[0], b[0]); });
  for (std::size_t k = 1; k < plan.size(); ++k)
    BOOST_TEST(length(split, plan[k].front()) <= length(split, plan[k - 1].back()));
}

BOOST_AUTO_TEST_CASE(each_epoch_takes_the_batches_of_a_pool_in_another_order) {
  const Split split = random_split(1280);
  std::set<std::ptrdiff_t> places;  // position of the batch with the longest sentences
  for (Index epoch = 0; epoch < 8; ++epoch) {
    const Lists plan = lists_of(epoch_batches(split, options(64, 20), 1, epoch));
    places.insert(std::max_element(plan.begin(),
                                   plan.end(),
                                   [&](const auto& a, const auto& b) {
                                     return length(split, a[0]) < length(split, b[0]);
                                   }) -
                  plan.begin());
  }
  BOOST_TEST(places.size() > 2u);
}

// A plan depends on seed and epoch alone, so a run resumed at (epoch, position) sees the same
// batch.
BOOST_AUTO_TEST_CASE(a_plan_needs_no_earlier_epoch) {
  const Split split = random_split(700);
  std::vector<Batches> run;
  for (Index epoch = 0; epoch < 4; ++epoch)
    run.push_back(epoch_batches(split, options(32, 5), 9, epoch));
  const Batches resumed = epoch_batches(split, options(32, 5), 9, 2);
  for (std::size_t position = 11; position < resumed.size(); ++position)
    BOOST_TEST(std::ranges::equal(resumed[position], run[2][position]));
  BOOST_TEST((run[1] != run[2]));
  BOOST_TEST((epoch_batches(split, options(32, 5), 8, 2) != run[2]));
}

BOOST_AUTO_TEST_CASE(evaluation_is_longest_first_and_not_shuffled) {
  const Split split = random_split(333);
  const Batches batches = evaluation_batches(split, 50);
  each_once(batches, 333);
  BOOST_TEST(batches.size() == 7u);
  const std::vector<Index> all = all_of(batches);
  for (std::size_t k = 1; k < all.size(); ++k) {
    const auto before = std::ssize(split.examples[usize(all[k - 1])].source);
    const auto after = std::ssize(split.examples[usize(all[k])].source);
    BOOST_TEST(before >= after);
  }
}

BOOST_AUTO_TEST_CASE(parts_are_neighbours_of_about_equal_work) {
  const Split split = random_split(64);
  std::vector<Index> batch(64);
  std::iota(batch.begin(), batch.end(), Index{0});
  const std::vector<Index> order = batch_order(split, batch);
  Index symbols = 0, longest = 0;
  for (const Index i : batch) {
    symbols += length(split, i) + 2;
    longest = std::max(longest, length(split, i) + 2);
  }
  for (const Index count : {1, 2, 3, 8, 11, 64}) {
    const Batches parts = cut_into_parts(split, batch, count);
    BOOST_TEST(std::ssize(parts) == count);
    BOOST_TEST(all_of(parts) == order);
    for (const auto part : parts) {
      BOOST_TEST(!part.empty());
      Index own = 0;
      for (const Index i : part) own += length(split, i) + 2;
      BOOST_TEST(std::abs(own - symbols / count) <= longest);
    }
  }
  const Batches few = cut_into_parts(split, std::span(batch).first(5), 8);
  BOOST_TEST(few.size() == 5u);
  BOOST_TEST(cut_into_parts(split, {}, 8).empty());
}

BOOST_AUTO_TEST_CASE(sorted_pools_leave_little_padding) {
  const Split split = random_split(5000);
  BOOST_TEST(padding(split, epoch_batches(split, options(64, 20), 1, 0), 8) < 0.05);
  BOOST_TEST(padding(split, epoch_batches(split, options(64, 20), 1, 0), 1) < 0.11);
}

BOOST_AUTO_TEST_SUITE_END()
