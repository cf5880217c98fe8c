// Text tables: columns of wide and combining characters, and which columns are cut if there is no room.
#include "framework/base/text.hpp"

#include <boost/test/unit_test.hpp>
#include <clocale>

#include "framework/base/error.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(puts_texts_into_columns) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  Table table({{"name"}, {"n", Side::right}});
  table.row({"e\xcc\x81t\xc3\xa9", "1"});  // a combining accent takes no column
  table.row({"a\nb", "200"});
  BOOST_TEST(table.str() == "name    n\ne\xcc\x81t\xc3\xa9     1\na\\nb  200\n");
  BOOST_CHECK_THROW(table.row({"one"}), BugError);
}

BOOST_AUTO_TEST_CASE(gives_way_as_columns_allow) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  Table table({{"a", Side::left, 4}, {"spare", Side::left, 0, 1}, {"b"}});
  table.row({"long text", "left out", "kept"});
  BOOST_TEST(table.str(12) == "a       b\nlong …  kept\nnot shown: spare\n");
  Table wraps({{"a"}, {"text", Side::left, 5, 0, true}});
  wraps.row({"1", "two words"});
  BOOST_TEST(wraps.str(8) == "a  text\n1  two\n   words\n");
}

BOOST_AUTO_TEST_SUITE_END()
