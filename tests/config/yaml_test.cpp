#include "framework/config/yaml.hpp"

#include <cstdint>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "tests/config/example.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::string refused(const std::string& text) {
  return refusal([&] { parse_yaml(text, "x.yaml"); });
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string place(const std::string& text) { return places_of(refused(text)); }

bool begins(const std::string& text, const std::string& prefix) {
  if (!text.starts_with(prefix)) BOOST_TEST_MESSAGE(text);
  return text.starts_with(prefix);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(yaml)

BOOST_AUTO_TEST_CASE(every_node_knows_its_place_and_its_quotes) {
  const Value root = parse_yaml("# c\na: 1\nb:\n  c: 'x'\n  d: [1, , {e: f}]\n  g:\n", "x.yaml");
  BOOST_TEST(root.keys() == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(root.find("a")->value.where.str() == "x.yaml:2:4");
  const Value& b = root.find("b")->value;
  BOOST_TEST(root.find("b")->where.str() == "x.yaml:3:1");
  BOOST_TEST(b.find("c")->value.quoted);
  BOOST_TEST(b.find("c")->value.where.str() == "x.yaml:4:6");
  BOOST_TEST(b.find("d")->value.items.size() == 3u);
  BOOST_TEST(b.find("d")->value.items[1].is_null());
  BOOST_TEST(b.find("d")->value.items[2].find("e")->value.where.str() == "x.yaml:5:16");
  BOOST_TEST(b.find("g")->value.is_null());
  BOOST_TEST(b.find("g")->value.where.str() == "x.yaml:6:3");
}

BOOST_AUTO_TEST_CASE(windows_line_ends_and_a_byte_order_mark_change_nothing) {
  const Value root = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: two\r\n",
      "x.yaml");
  BOOST_TEST(root.find("a")->where.str() == "x.yaml:1:1");
  BOOST_TEST(root.find("b")->value.text == "two");
  BOOST_TEST(root.find("b")->value.where.str() == "x.yaml:2:4");
}

BOOST_AUTO_TEST_CASE(duplicate_keys_name_both_places) {
  BOOST_TEST(contains(refused("a: 1\nb: 2\na: 3\n"), "first at x.yaml:1:1"));
  BOOST_TEST(place("a: {b: 1, 'b': 2}") == "1:11");
}

BOOST_AUTO_TEST_CASE(anchors_aliases_merge_keys_and_tags_are_refused) {
  for (const char* text :
       {"a: &x {b: 1}\nc: *x\n", "a: !!str 2\n", "a: !mine [2]\n", "a: *nobody\n"})
    BOOST_TEST(place(text) == "1:4", text);
  BOOST_TEST(place("a:\n  <<: {b: 1}\n") == "2:3");
  BOOST_TEST(contains(refused("a: &x 1\n"), "extends"));
}

BOOST_AUTO_TEST_CASE(exploding_aliases_are_refused_at_the_first_anchor) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  BOOST_TEST(place(bomb) == "1:5");
}

BOOST_AUTO_TEST_CASE(one_document_and_not_an_empty_one) {
  BOOST_TEST(place("a: 1\n---\nb: 2\n") == "2:1");
  BOOST_TEST(place("a: 1\n---\n") == "2:1");
  BOOST_TEST(refused("--- # start\na: 1\n...\n") == "accepted");
  BOOST_TEST(parse_yaml("a: |\n  t", "x.yaml").find("a")->value.text == "t\n");
  for (const char* empty : {"", "\n\n", "# only a comment\n", "---\n", "~\n"})
    BOOST_TEST(place(empty) == "1:1");
}

BOOST_AUTO_TEST_CASE(depth_is_bounded) {
  const int deep = 10000;
  BOOST_TEST(begins(refused("a: " + repeated("[", deep)), "x.yaml:1:"));
  for (const char* opening : {"[", "{a: ", "- ", "? "})
    BOOST_TEST(contains(refused(repeated(opening, deep)), "nested deeper than 64"));
  std::string block;
  for (int i = 0; i < 1000; ++i) block += std::string(usize(i), ' ') + "a:\n";
  BOOST_TEST(begins(refused(block), "x.yaml:65:65: nested deeper than 64"));
  BOOST_TEST(refused(repeated("[", 64) + repeated("]", 64)) == "accepted");
}

BOOST_AUTO_TEST_CASE(characters_that_mislead_are_refused_where_they_stand) {
  BOOST_TEST(place("a:\n\tb: 1\n") == "2:1");
  BOOST_TEST(place("a:\n  \tb: 1\n") == "2:3");
  BOOST_TEST(place("a: 1\nb: \xff\n") == "2:4");
  BOOST_TEST(place("a: 1\nb: \x04 2\n") == "2:4");
  for (const char* bad : {"\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    BOOST_TEST(place(std::string("a: ") + bad) == "1:4");
  for (const char* escape : {R"("\_")", R"("b\N")"})
    BOOST_TEST(place(std::string("a: ") + escape) == "1:4");
  BOOST_TEST(place(std::string("a: \0b", 5)) == "1:4");
  BOOST_TEST(place(std::string("a\0:\0 \0", 6)) == "1:2");  // UTF-16
  BOOST_TEST(place("a: 1\rb:\r  c: 2\r") == "1:5");         // old Mac line ends
  for (const char* fine : {"a:\t1 # fine\n",
                           "a: \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n",
                           R"(a: "\xa0\x85\L\P\u00e9")",
                           "a: 1\r"})  // a Windows line end cut short
    BOOST_TEST(refused(fine) == "accepted");
}

BOOST_AUTO_TEST_CASE(broken_yaml_says_where) {
  BOOST_TEST(place("a: b: c\n") == "1:5");
  for (const char* open : {"'x", "\"x", "[1, 2", "{c: 1", "'x\nc: 3", "[1,\n\n# ]"})
    for (const char* end : {"", "\n", "\n\n"})
      BOOST_TEST(
          contains(refused(std::string("a: 1\nb: ") + open + end), "it ends inside a quote"));
  BOOST_TEST(place("a: [1, 2\n") == "2:1");
  BOOST_TEST(place("[a]: 1\n") == "1:1");
  BOOST_TEST(place("~: 1\n") == "1:1");
}

BOOST_AUTO_TEST_CASE(slips_of_the_keyboard_are_named) {
  const auto described = [](const std::string& text) {
    return parse_yaml(text, "x.yaml").find("a")->value.describe();
  };
  for (const char* colon : {"a:\n  b:2\n  c: 3\n", "a:\n  b:\u00a02\n  c: 3\n"})
    BOOST_TEST(place(colon) == "2:3");
  BOOST_TEST(contains(described("a: b:2"), "write b: 2"));
  for (const char* plain : {"a: http://b.c", "a: 12:30", "a: \"b:2\"", "a: ':b'", "a: 'b:'"})
    BOOST_TEST(!contains(described(plain), "colon"));
  BOOST_TEST(contains(described("a: 2\u00a0"), "U+00A0"));
  BOOST_TEST(contains(described("a: \u30002"), "U+3000"));
}

BOOST_AUTO_TEST_CASE(json_may_be_indented_with_tabs) {
  const Value root = parse_yaml("\n{\n\t\"a\": {\n\t\t\"b\": [1,\n\t2]\n\t}\n}\n", "x.yaml");
  BOOST_TEST(root.find("a")->value.find("b")->value.items.size() == 2u);
  BOOST_TEST(root.find("a")->value.find("b")->where.str() == "x.yaml:4:3");
  BOOST_TEST(place("a: {\n\tb: 1}\n") == "2:1");
}

BOOST_AUTO_TEST_CASE(files_that_are_not_there_or_are_no_files) {
  const Scratch folder;
  const auto read = [&](const std::string& name) {
    return refusal([&] { read_yaml(folder / name, {"by.yaml", 3, 4}); }, folder.path().string());
  };
  BOOST_TEST(begins(read("none.yaml"), "by.yaml:3:4: none.yaml: "));
  BOOST_TEST(contains(read("../" + folder.path().filename().string()), "is a directory"));
  folder.write("huge.yaml", "a: " + std::string(kLargestYaml, 'x'));
  BOOST_TEST(begins(read("huge.yaml"), "huge.yaml: larger than 1048576 bytes"));
  BOOST_TEST(begins(refusal([] { read_yaml("/dev/zero"); }), "/dev/zero: larger than"));
}

BOOST_AUTO_TEST_CASE(many_keys_take_no_quadratic_time) {
  std::string text;
  for (int i = 0; i < 80000; ++i) text += fmt::format("k{}: 1\n", i);
  BOOST_TEST(parse_yaml(text, "x.yaml").entries.size() == 80000u);
}

// Any bytes give a Value or a SpecError with a position, never a crash or another exception.
BOOST_AUTO_TEST_CASE(mutated_specs_are_read_or_refused) {
  const std::string seed_text =
      "name: 'x'\nmodel:\n  encoder: {type: gru, units: 256}\n  list: [1, 2.5, \"q\"]\nnotes: |\n  "
      "t\n";
  const std::string alphabet = "{}[]:,&*!|>'\"%@`#-? \n\tx0\\<~";
  const RandomStream random(1, "yaml mutations");
  int read = 0;
  int refusals = 0;
  for (std::uint64_t round = 0; round < 5000; ++round) {
    std::string text = seed_text;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()), 3 * i, round);
      const char c =
          alphabet[random.below(static_cast<std::uint32_t>(alphabet.size()), 3 * i + 1, round)];
      switch (random.below(3, 3 * i + 2, round)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1);
      }
    }
    const std::string message = refused(text);
    BOOST_TEST_REQUIRE((message == "accepted" || message.starts_with("x.yaml:")), text + message);
    ++(message == "accepted" ? read : refusals);
  }
  BOOST_TEST(read > 500);
  BOOST_TEST(refusals > 500);
}

BOOST_AUTO_TEST_CASE(a_value_of_the_command_line) {
  const Position where{"override 1"};
  const auto value = [&](const std::string& text) { return parse_flow(text, where); };
  BOOST_TEST(value(" 1e-3 ").text == "1e-3");
  BOOST_TEST(value("run #3: the last").text == "run #3: the last");
  BOOST_TEST(value("'256'").quoted);
  BOOST_TEST(value("''").text == "");
  BOOST_TEST(value("null").is_null());
  BOOST_TEST(value("[1, 2]").items[1].text == "2");
  BOOST_TEST(value("[1, 2]").items[1].where.str() == "override 1");
  BOOST_TEST(value("{a: {b: c}}").find("a")->value.find("b")->value.text == "c");
  const auto refused_value = [&](const std::string& text) { return refusal([&] { value(text); }); };
  BOOST_TEST(begins(refused_value(""), "override 1: "));
  std::vector<std::string> wrong = words_of("[1 [1]] 'a ' *a !t \xff");
  for (const char* more : {"{a: 1",
                           "[1] # c",
                           "'a': 'b'",
                           "[a]: [b]",
                           "&a b",
                           "| x",
                           "[&a 1]",
                           "{a: 1, a: 2}",
                           "\"a\"\n---\n\"b\""})
    wrong.emplace_back(more);
  for (const std::string& bad : wrong) BOOST_TEST(begins(refused_value(bad), "override 1: "), bad);
}

BOOST_AUTO_TEST_SUITE_END()
