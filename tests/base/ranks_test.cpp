// Exchanges between ranks.
#include "framework/base/ranks.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/error.hpp"
#include "tests/thread_ranks.hpp"

using namespace softalign;
using test::ThreadRanks;

namespace {

// Numbers whose sum depends on the order of additions.
std::vector<real> numbers_of(int rank, std::size_t size) {
  std::vector<real> numbers(size);
  for (std::size_t i = 0; i < size; ++i)
    numbers[i] = static_cast<real>(std::sin(static_cast<double>(i + 1) * (rank + 1)) *
                                   std::pow(10.0, (rank * 3) % 7));
  return numbers;
}

// ((0 + 1) + (2 + 3)) + ...
std::vector<real> tree_sum(int first, int count, std::size_t size) {
  if (count == 1) return numbers_of(first, size);
  std::vector<real> sum = tree_sum(first, count / 2, size);
  const std::vector<real> right = tree_sum(first + count / 2, count / 2, size);
  for (std::size_t i = 0; i < size; ++i) sum[i] += right[i];
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ranks)

BOOST_AUTO_TEST_CASE(sums_are_those_of_the_tree) {
  for (const int count : {1, 2, 4, 8, 16}) {
    const std::size_t size = 103;
    Bounds bounds = {0};  // some slices are empty
    for (int i = 1; i < count; ++i)
      bounds.push_back(i * i % 3 == 0 ? bounds.back() : i * 103 / count);
    bounds.push_back(103);
    const std::vector<real> wanted = tree_sum(0, count, size);
    std::vector<std::vector<real>> found(usize(count));
    ThreadRanks::run(count, [&](Ranks& ranks) {
      std::vector<real> numbers = numbers_of(ranks.rank(), size), scratch;
      sum_slices(ranks, numbers, bounds, scratch);
      const auto slice = usize(slice_of(ranks, ranks.rank()));
      for (Index i = 0; i < std::ssize(numbers); ++i)
        if (i < bounds[slice] || i >= bounds[slice + 1]) numbers[usize(i)] = -1;
      share_slices(ranks, numbers, bounds);
      found[usize(ranks.rank())] = numbers;
    });
    for (const std::vector<real>& one : found) BOOST_TEST((one == wanted), count << " ranks");
  }
}

BOOST_AUTO_TEST_CASE(every_rank_owns_one_slice) {
  ThreadRanks::run(8, [&](Ranks& ranks) {
    std::vector<int> owned;
    for (int rank = 0; rank < 8; ++rank) owned.push_back(slice_of(ranks, rank));
    std::ranges::sort(owned);
    for (int i = 0; i < 8; ++i)
      if (owned[usize(i)] != i) throw BugError("slice {} has no owner", i);
  });
}

BOOST_AUTO_TEST_CASE(bytes_reach_those_they_are_for) {
  for (const int count : {1, 2, 4, 8}) {
    ThreadRanks::run(count, [&](Ranks& ranks) {
      const auto check = [](bool right, const char* what) {
        if (!right) throw BugError("{}", what);
      };
      const std::string own(usize(ranks.rank() * 3), static_cast<char>('a' + ranks.rank()));
      check(broadcast(ranks, ranks.first() ? "hello" : "?") == "hello", "broadcast");
      check(broadcast(ranks, std::string()).empty(), "broadcast of nothing");
      const std::vector<std::string> all = gather_to_all(ranks, own);
      check(std::ssize(all) == count, "gather_to_all");
      for (int rank = 0; rank < count; ++rank)
        check(all[usize(rank)] == std::string(usize(rank * 3), static_cast<char>('a' + rank)),
              "gathered bytes");
      check(gather(ranks, own).size() == (ranks.first() ? usize(count) : 0), "gather");
      check(scatter(ranks, ranks.first() ? all : std::vector<std::string>()) == own, "scatter");
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
