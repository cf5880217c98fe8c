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

// The state of a search grows in this way, and each of its steps returns all memory that it took.
BOOST_AUTO_TEST_CASE(arrays_that_grow_with_every_step_leave_nothing_behind) {
  Arena arena;
  arena.array({100});
  const Arena::Mark mark = arena.mark();
  for (Index step = 0; step < 50; ++step) {
    arena.rewind(mark);
    for (int k = 0; k < 3; ++k) arena.array({20'000'000 + step * 1'000'000});
  }
  BOOST_TEST(arena.reserved() < arena.peak() + arena.peak() / 3);
}

BOOST_AUTO_TEST_SUITE_END()
