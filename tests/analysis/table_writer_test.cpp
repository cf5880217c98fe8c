#include "framework/analysis/export.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"

using namespace softalign;

namespace {

std::string table(TableFormat format, const std::vector<std::vector<Cell>>& rows) {
  TableWriter writer(format, {"a", "b,\"c\""});
  for (const auto& row : rows) writer.row(row);
  return writer.finish();
}

const std::vector<std::vector<Cell>> kRows = {
    {Index{-3}, 0.1},
    {std::string("x, \"y\"\nñ"), 1e22},
    {Cell{}, std::nan("")},
    {std::string(), -std::numeric_limits<double>::infinity()},
    {JsonValue{"[1,2]"}, JsonValue{"true"}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(table_writer)

// RFC 4180: fields with separators, quotes or line ends are quoted, quotes are doubled, and lines end in CR LF.
BOOST_AUTO_TEST_CASE(csv) {
  BOOST_TEST(table(TableFormat::csv, kRows) ==
             "a,\"b,\"\"c\"\"\"\r\n-3,0.1\r\n\"x, "
             "\"\"y\"\"\nñ\",1e+22\r\n,\r\n\"\",-inf\r\n\"[1,2]\",true\r\n");
  for (const std::string part : {",", "\"", "\r", "\n"}) {
    const std::string text = table(TableFormat::csv, {{part, Index{1}}});
    BOOST_TEST(text.ends_with("\"" + part + (part == "\"" ? "\"" : "") + "\",1\r\n"), text);
  }
  BOOST_TEST(table(TableFormat::csv, {}) == "a,\"b,\"\"c\"\"\"\r\n");
}

BOOST_AUTO_TEST_CASE(json) {
  const std::string text = table(TableFormat::json, kRows);
  const auto read = nlohmann::json::parse(text);
  BOOST_REQUIRE(read.size() == 5u);
  BOOST_TEST(read[0].dump() == R"({"a":-3,"b,\"c\"":0.1})");
  BOOST_TEST(read[1]["a"] == "x, \"y\"\nñ");
  BOOST_TEST((read[2]["a"].is_null() && read[2]["b,\"c\""].is_null()));
  BOOST_TEST((read[3]["a"] == "" && read[3]["b,\"c\""].is_null()));
  BOOST_TEST(read[4].dump() == R"({"a":[1,2],"b,\"c\"":true})");
  BOOST_TEST(table(TableFormat::json, {}) == "[]\n");
  BOOST_TEST(nlohmann::json::parse(
                 table(TableFormat::json, {{std::string("\xff"), 1.0}}))[0]["a"] == "\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(numbers_read_back_as_the_same_bits) {
  for (const double number : {0.1, 1.0 / 3, 1e-300, 5e-324, -2.5, 123456789.123456789}) {
    const std::string text = table(TableFormat::csv, {{number, Index{1}}});
    BOOST_TEST(std::strtod(text.c_str() + text.find("\r\n") + 2, nullptr) == number, text);
  }
}

BOOST_AUTO_TEST_CASE(a_row_of_another_size_is_our_bug) {
  TableWriter writer(TableFormat::csv, {"a"});
  BOOST_CHECK_THROW(writer.row({Index{1}, Index{2}}), BugError);
}

BOOST_AUTO_TEST_SUITE_END()
