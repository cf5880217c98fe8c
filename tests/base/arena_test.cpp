#include <boost/test/unit_test.hpp>

#include <cstdint>

#include "framework/base/arena.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(arena)

BOOST_AUTO_TEST_CASE(memory_is_aligned_and_apart) {
  Arena arena;
  for (const Index size : {1, 3, 1000, 100000, 7}) {
    const View a = arena.array({size}), b = arena.zeros({size});
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(a.data) % 64 == 0u);
    BOOST_TEST((b.data >= a.data + size || a.data >= b.data + size));
    for (real x : b) BOOST_TEST(x == 0);
  }
}

BOOST_AUTO_TEST_CASE(rewinding_gives_the_same_memory_again) {
  Arena arena;
  arena.array({100});
  const Arena::Mark mark = arena.mark();
  const std::size_t used = arena.used();
  const real* first = arena.array({50000}).data;
  arena.array({3000000});
  arena.rewind(mark);
  BOOST_TEST(arena.used() == used);
  BOOST_TEST(arena.array({50000}).data == first);
  BOOST_TEST(arena.peak() > 3000000 * sizeof(real));
}

BOOST_AUTO_TEST_SUITE_END()
