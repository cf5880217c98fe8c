// Operations that only move numbers, with expected results as literals.
#include <boost/test/unit_test.hpp>

#include <vector>

#include "framework/ops/ops.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(windows_hold_the_neighbours) {
  Tape tape(Tape::Mode::infer);
  std::vector<real> x = {1, 2, 3, 4, 5, 6};  // two sentences of lengths 3 and 2
  const std::vector<Index> lengths = {3, 2};
  const View y = windows(tape.constant({x.data(), {2, 3, 1}}), 3, lengths).value();
  const std::vector<real> expected = {0, 1, 2, 1, 2, 3, 2, 3, 0, 0, 4, 5, 4, 5, 0, 0, 0, 0};
  BOOST_TEST(std::vector<real>(y.begin(), y.end()) == expected);
}

BOOST_AUTO_TEST_SUITE_END()
