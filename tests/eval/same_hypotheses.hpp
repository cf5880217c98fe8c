// Compares the hypotheses of two searches bit for bit.
#pragma once

#include <boost/test/unit_test.hpp>

#include "framework/eval/search.hpp"

namespace softalign {

inline void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    BOOST_TEST(a[k].tokens == b[k].tokens, boost::test_tools::per_element());
    BOOST_TEST(a[k].log_probability == b[k].log_probability);
    BOOST_TEST(a[k].score == b[k].score);
    BOOST_TEST((a[k].alignment == b[k].alignment));
    BOOST_TEST((a[k].replaced == b[k].replaced));
  }
}

}  // namespace softalign
