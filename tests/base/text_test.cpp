// Escaping of untrusted text in messages, and which paths may be read as files.
#include "framework/base/text.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(one_has_no_plural) {
  BOOST_TEST(counted(0, "line") == "0 lines");
  BOOST_TEST(counted(1, "line") == "1 line");
  BOOST_TEST(counted(std::size_t{2}, "line") == "2 lines");
}

BOOST_AUTO_TEST_CASE(control_characters_and_broken_bytes_are_spelt_out) {
  BOOST_TEST(printable("el niño 漢字") == "el niño 漢字");
  BOOST_TEST(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  BOOST_TEST(printable(std::string_view("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
  BOOST_TEST(printable("a\xc2\x9b"
                       "31m") == "a\\xc2\\x9b31m");              // CSI as a single character
  BOOST_TEST(printable("a\xe2\x80\xae") == "a\\xe2\\x80\\xae");  // right-to-left override
  for (const char* mark : {"\u061c", "\u200e", "\u200f", "\u202a", "\u2066", "\u2069"})
    BOOST_TEST(printable(mark).starts_with("\\x"), mark);
  BOOST_TEST(printable("\xff\xc3") == "\\xff\\xc3");                          // not UTF-8
  BOOST_TEST(printable("\xe2\x80\xa6 \xc2\xa0") == "\xe2\x80\xa6 \xc2\xa0");  // … and NBSP
}

BOOST_AUTO_TEST_CASE(long_text_is_cut_between_characters) {
  BOOST_TEST(printable(std::string(60, 'x')) == std::string(60, 'x'));
  BOOST_TEST(printable(std::string(61, 'x')) == std::string(60, 'x') + "...");
  BOOST_TEST(printable("ññññ", 3) == "ñññ...");
  BOOST_TEST(printable(std::string(500, 'x'), kWhole).size() == 500u);
}

BOOST_AUTO_TEST_CASE(a_position_is_one_line) {
  BOOST_TEST((Position{"a\nb.yaml", 3, 4}).str() == "a\\nb.yaml:3:4");
  BOOST_TEST((Position{"a\x1b.yaml", 3, 4}).file_and_line() == "a\\x1b.yaml:3");
  BOOST_TEST((Position{"override 1"}).str() == "override 1");
}

BOOST_AUTO_TEST_CASE(suggestions_are_harmless_and_quick) {
  BOOST_TEST(suggestion("gian", {"gai\nn", "units"}) ==
             "; did you mean 'gai\\nn'? legal: gai\\nn, units");
  BOOST_TEST(suggestion(std::string(1 << 20, 'x'), {"gain", std::string(1 << 16, 'x')})
                 .starts_with("; legal: gain, xxxxx"));
  BOOST_TEST(alike("tpye", "type"));
  BOOST_TEST(!alike("size", "type"));
}

BOOST_AUTO_TEST_CASE(words_of_a_shell) {
  BOOST_TEST(shell_word("a/b-1.so") == "a/b-1.so");
  BOOST_TEST(shell_word("") == "''");
  BOOST_TEST(shell_word("it's; rm") == "'it'\\''s; rm'");
  BOOST_TEST(shell_word("it's\n\x1b[m\\") == "$'it\\'s\\n\\x1b[m\\\\'");
  BOOST_TEST(shell_word("\xe2\x80\xae\xff") == "$'\\xe2\\x80\\xae\\xff'");
  BOOST_TEST(shell_file("-gb") == "./-gb");
  BOOST_TEST(shell_file("a b/-c") == "'a b/-c'");
}

BOOST_AUTO_TEST_CASE(others_text_makes_no_line_of_a_message) {
  const std::string name = "a\nsoftalign: b";
  const std::string_view part = name;
  const DataError error("{}: {}: {:>3}\n{}", name, name.c_str(), 7, part);
  BOOST_TEST(error.what() ==
             std::string("a\\nsoftalign: b: a\\nsoftalign: b:   7\na\\nsoftalign: b"));
  BOOST_TEST(std::string(SpecError("{}; more", error).what()) ==
             error.what() + std::string("; more"));
  BOOST_TEST(in_one_line(SpecError("{}\n{}", 1, 2)) == "1; 2");
  BOOST_TEST(message_of(std::runtime_error(name)) == "a\\nsoftalign: b");
  BOOST_TEST(message_of(error) == error.what());
}

BOOST_AUTO_TEST_CASE(articles) {
  BOOST_TEST(with_article("score") == "a score");
  BOOST_TEST(with_article("optimizer") == "an optimizer");
  BOOST_TEST(with_article("encoder") == "an encoder");
}

BOOST_AUTO_TEST_CASE(only_regular_files_are_read) {
  const test::Scratch scratch;
  BOOST_REQUIRE(mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  for (const std::string file : {"pipe", "../../../../../dev/zero", ".", "no\nne"}) {
    BOOST_CHECK_THROW(sha256_file(scratch / file), DataError);  // without waiting for a writer
    BOOST_CHECK_THROW(demand_regular_file(scratch / file), DataError);
  }
  scratch.write("file", "x");
  std::filesystem::create_symlink("file", scratch / "link");
  for (const char* file : {"file", "link"}) {
    sha256_file(scratch / file);
    demand_regular_file(scratch / file);
  }
}

BOOST_AUTO_TEST_SUITE_END()
