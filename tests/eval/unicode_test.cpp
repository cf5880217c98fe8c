#include "framework/eval/text_metrics.hpp"

#include <boost/test/unit_test.hpp>

using namespace softalign;

BOOST_AUTO_TEST_SUITE(unicode)

BOOST_AUTO_TEST_CASE(decodes_one_to_four_bytes) {
  BOOST_TEST((decode_utf8("aé日😀") == U"aé日😀"));
  BOOST_TEST((decode_utf8("\xF4\x8F\xBF\xBF") == std::u32string{0x10FFFF}));
}

BOOST_AUTO_TEST_CASE(each_invalid_byte_is_a_replacement_character) {
  const char32_t r = 0xFFFD;
  BOOST_TEST((decode_utf8("a\xC3") == std::u32string{U'a', r}));                // truncated
  BOOST_TEST((decode_utf8("\xC3z") == std::u32string{r, U'z'}));                // no continuation
  BOOST_TEST((decode_utf8("\x80z") == std::u32string{r, U'z'}));                // no lead
  BOOST_TEST((decode_utf8("\xC0\xAF") == std::u32string{r, r}));                // overlong
  BOOST_TEST((decode_utf8("\xE0\x80\xAF") == std::u32string{r, r, r}));         // overlong
  BOOST_TEST((decode_utf8("\xED\xA0\x80") == std::u32string{r, r, r}));         // surrogate
  BOOST_TEST((decode_utf8("\xF4\x90\x80\x80") == std::u32string{r, r, r, r}));  // > 10FFFF
}

BOOST_AUTO_TEST_CASE(words_are_what_white_space_separates) {
  const std::vector<std::string> words{"año", "de", "gracia"};
  BOOST_TEST(unicode_words("  a\u00f1o\u00a0de\u2003\tgracia\n") == words);
  BOOST_TEST(unicode_words(" \u3000 ").empty());
  BOOST_TEST(unicode_words("a\u200bb").size() == 1u);  // a zero-width space is not a separator
}

BOOST_AUTO_TEST_SUITE_END()
