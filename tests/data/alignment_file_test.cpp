#include "framework/data/text_file.hpp"

#include "shared.hpp"

using namespace softalign;

namespace {
std::string refusal(const std::string& line) {
  return message_of<DataError>([&] { parse_links(line, 4, 3, "x.align", 7); });
}
}  // namespace

BOOST_AUTO_TEST_SUITE(alignment_file)

BOOST_AUTO_TEST_CASE(sure_and_possible_in_order) {
  const std::vector<Link> expected = {{0, 2, true}, {1, 0, false}, {3, 2, true}};
  BOOST_TEST((parse_links("3-2 1p0  0-2\t", 4, 3, "x.align", 1) == expected));
  BOOST_TEST(parse_links("", 4, 3, "x.align", 1).empty());
}

BOOST_AUTO_TEST_CASE(a_link_given_twice_is_sure_if_any_says_so) {
  const std::vector<Link> expected = {{1, 1, true}};
  BOOST_TEST((parse_links("1p1 1-1 1p1", 4, 3, "x.align", 1) == expected));
}

BOOST_AUTO_TEST_CASE(what_is_no_link) {
  for (const std::string link :
       {"3x2", "3-", "-2", "3", "3-2-1", "a-b", "1 -", "3.0-1", "+1-1", "99999999999999999999-1"})
    BOOST_TEST(refusal("0-0 " + link).starts_with("x.align:7: '"), link);
}

BOOST_AUTO_TEST_CASE(out_of_range_names_the_link) {
  for (const std::string link : {"4-2", "0-3", "0p3", "-1-0", "0--1"})
    BOOST_TEST(contains(refusal(link), "link '" + link + "' is out of range"));
}

BOOST_AUTO_TEST_CASE(links_spread_over_the_symbols_of_both_words) {
  const std::vector<Link> words = {{0, 1, true}, {2, 0, false}, {1, 9, true}};
  const std::vector<Link> expected = {
      {0, 2, true}, {0, 3, true}, {1, 2, true}, {1, 3, true}, {3, 0, false}, {3, 1, false}};
  BOOST_TEST((spread_links(words, {0, 0, 1, 2}, {0, 0, 1, 1, 2}) == expected));
}

BOOST_AUTO_TEST_SUITE_END()
