// Described structs as JSON and as CBOR, and input that is refused.
#include "framework/base/stored.hpp"

#include <boost/test/unit_test.hpp>

using namespace softalign;
namespace {

enum class Colour { red, green };
std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "green"; }
bool from_string(std::string_view name, Colour& colour) {
  colour = name == "red" ? Colour::red : Colour::green;
  return name == "red" || name == "green";
}

struct Inner {
  double number = 0;
  bool flag = false;

  template <class V>
  void describe(V& v) {
    v("number", number);
    v("flag", flag);
  }
};

struct Outer {
  std::string text;
  Index whole = 0;
  Colour colour = Colour::red;
  std::optional<Index> absent, present;
  std::vector<Inner> list;
  std::vector<double> numbers;
  std::map<std::string, std::vector<Index>> columns;
  std::vector<std::pair<std::string, double>> named;
  std::pair<Index, std::string> pair;

  template <class V>
  void describe(V& v) {
    v("text", text);
    v("whole", whole);
    v("colour", colour);
    v("absent", absent);
    v("present", present);
    v("list", list);
    v("numbers", numbers);
    v("columns", columns);
    v("named", named);
    v("pair", pair);
  }
};

constexpr double kInf = std::numeric_limits<double>::infinity();

Outer made() {
  Outer outer;
  outer.text = "ü \"quoted\"";
  outer.whole = -(Index{1} << 60);
  outer.colour = Colour::green;
  outer.present = 3;
  outer.list = {{0.1, true}, {-kInf, false}};
  outer.numbers = {kUndefined, kInf, 1e-300};
  outer.columns = {{"b", {1, 2}}, {"a", {}}};
  outer.named = {{"z", 1}, {"a", kUndefined}};
  outer.pair = {7, "seven"};
  return outer;
}

void check_same(const Outer& again) {
  const Outer outer = made();
  BOOST_TEST(again.text == outer.text);
  BOOST_TEST(again.whole == outer.whole);
  BOOST_TEST((again.colour == Colour::green));
  BOOST_TEST(!again.absent.has_value());
  BOOST_TEST((again.present == 3));
  BOOST_REQUIRE(again.list.size() == 2u);
  BOOST_TEST((again.list[0].number == 0.1 && again.list[0].flag));
  BOOST_TEST((again.list[1].number == -kInf && !again.list[1].flag));
  BOOST_REQUIRE(again.numbers.size() == 3u);
  BOOST_TEST((std::isnan(again.numbers[0]) && again.numbers[1] == kInf));
  BOOST_TEST(again.numbers[2] == 1e-300);
  BOOST_TEST((again.columns == outer.columns));
  BOOST_REQUIRE(again.named.size() == 2u);
  BOOST_TEST((again.named[0] == outer.named[0] && again.named[1].first == "a"));
  BOOST_TEST((again.pair == outer.pair));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_structs)

BOOST_AUTO_TEST_CASE(are_read_back_from_text_and_from_bytes) {
  check_same(from_stored_text<Outer>(stored_text(made())));
  check_same(unpacked<Outer>(packed(made())));
}

BOOST_AUTO_TEST_CASE(have_their_members_in_the_order_of_the_description) {
  const Inner inner{kUndefined, true};
  BOOST_TEST(stored(inner).dump() == R"({"number":null,"flag":true})");
}

BOOST_AUTO_TEST_CASE(are_refused_where_anything_is_missing_or_of_another_type) {
  const nlohmann::ordered_json whole = stored(made());
  for (const auto& [name, value] : whole.items()) {
    nlohmann::ordered_json json = whole;
    json[name] = nlohmann::ordered_json{{"another", "type"}};
    BOOST_CHECK_THROW(from_stored<Outer>(json), DataError);
    json.erase(name);
    if (name == "present")
      BOOST_TEST(!from_stored<Outer>(json).present.has_value());
    else
      BOOST_CHECK_THROW(from_stored<Outer>(json), DataError);
  }
  for (const char* text : {"",
                           "[]",
                           "1",
                           "{\"number\": 1}",
                           "{\"number\": \"1\", \"flag\": true}",
                           "{\"number\": 1, \"flag\": \"1\"}"})
    BOOST_CHECK_THROW(from_stored_text<Inner>(text), DataError);
  BOOST_CHECK_THROW(from_stored_text<std::vector<Index>>("[1, 2.5]"), DataError);
}

BOOST_AUTO_TEST_CASE(are_refused_where_bytes_are_cut) {
  const std::string bytes = packed(made());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    BOOST_CHECK_THROW(unpacked<Outer>(std::string_view(bytes).substr(0, n)), DataError);
  BOOST_CHECK_THROW(unpacked<Outer>(bytes + "x"), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
