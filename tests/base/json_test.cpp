// Untrusted JSON: invalid or too deeply nested text is discarded before anything traverses it.
#include "framework/base/json.hpp"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>

using namespace softalign;
using Json = nlohmann::json;

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(nesting_is_bounded) {
  const auto nested = [](int levels) {
    return std::string(usize(levels), '[') + std::string(usize(levels), ']');
  };
  BOOST_TEST(read_json<Json>(nested(kDeepestJson)).is_array());
  BOOST_TEST(read_json<Json>(nested(kDeepestJson + 1)).is_discarded());
  BOOST_TEST(read_json<Json>(nested(1'000'000)).is_discarded());
  std::string objects;
  for (int i = 0; i <= kDeepestJson; ++i) objects += "{\"a\":";
  BOOST_TEST(read_json<Json>(objects + "1" + std::string(kDeepestJson + 1, '}')).is_discarded());
}

BOOST_AUTO_TEST_CASE(brackets_in_text_nest_nothing) {
  const Json json{{"name", std::string(1000, '[') + "\"\\{"}, {"list", {1, 2}}};
  BOOST_TEST(read_json<Json>(json.dump()) == json);
  // A long list is not deep.
  std::string list = "[";
  for (int i = 0; i < 1000; ++i) list += "[],";
  BOOST_TEST(read_json<Json>(list + "0]").size() == 1001U);
}

BOOST_AUTO_TEST_CASE(the_number_of_values_is_bounded) {
  std::string list = "[0";
  for (std::size_t i = 3; i < kMostJson; ++i) list += ",0";
  BOOST_TEST(read_json<Json>(list + "]").size() == kMostJson - 2);  // the brackets count, too
  BOOST_TEST(read_json<Json>(list + ",0]").is_discarded());
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_discarded) {
  for (const char* text : {"", "{", "]", "1e999", "\"", "{} {}"})
    BOOST_TEST(read_json<Json>(text).is_discarded(), text);
}

BOOST_AUTO_TEST_SUITE_END()
