// UTF-8 text as code points and as words, for the metrics of text. Not a tokeniser: words are what
// white space separates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// Code points of a text. A byte that is no part of valid UTF-8 counts as one U+FFFD: a hypothesis
// may end inside a character, and that is a wrong character, not a failure.
std::u32string decode_utf8(std::string_view utf8);

// Unicode white space, as Python's str.split() knows it (sacreBLEU's notion).
bool is_space(char32_t code_point);

// Unicode's general categories P, S and N.
bool is_punctuation(char32_t code_point);
bool is_symbol(char32_t code_point);
bool is_number(char32_t code_point);

// The words of a text: its longest runs without Unicode white space. (data/text.hpp's split_words
// cuts corpora, at ASCII white space only.)
std::vector<std::string> unicode_words(std::string_view utf8);

}  // namespace softalign
