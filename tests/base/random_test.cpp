#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(random_streams)

// Known-answer vectors of the Random123 distribution (philox4x32, 10 rounds).
BOOST_AUTO_TEST_CASE(philox_known_answers) {
  const Philox zero = philox4x32({0, 0, 0, 0}, {0, 0});
  BOOST_TEST((zero == Philox{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const Philox ones = philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u});
  BOOST_TEST((ones == Philox{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  const Philox pi =
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  BOOST_TEST((pi == Philox{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(streams_differ_by_name_seed_and_round) {
  const RandomStream a(1, "init/encoder.W"), b(1, "init/encoder.U"), c(2, "init/encoder.W");
  BOOST_TEST(a.word(0) != b.word(0));
  BOOST_TEST(a.word(0) != c.word(0));
  BOOST_TEST(a.word(0, 1) != a.word(0, 2));
  BOOST_TEST(a.word(7, 3) == RandomStream(1, "init/encoder.W").word(7, 3));
}

BOOST_AUTO_TEST_CASE(normal_has_mean_0_and_sd_1) {
  const RandomStream s(3, "normal");
  double sum = 0, squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = s.normal(static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  BOOST_TEST(std::abs(sum / n) < 0.01);
  BOOST_TEST(std::abs(squares / n - 1) < 0.02);
}

BOOST_AUTO_TEST_CASE(permutation_holds_each_once) {
  std::vector<Index> p = RandomStream(1, "shuffle").permutation(1000, 5);
  BOOST_TEST((p != RandomStream(1, "shuffle").permutation(1000, 6)));
  std::sort(p.begin(), p.end());
  for (Index i = 0; i < 1000; ++i) BOOST_TEST(p[usize(i)] == i);
}

BOOST_AUTO_TEST_SUITE_END()
