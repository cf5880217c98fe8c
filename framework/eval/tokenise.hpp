// Text as metrics read it: its code points, its words, and sacreBLEU's tokenisations. Words end at Unicode white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// As the text stands.
std::vector<std::string> tokenise_none(std::string_view utf8);
// mteval-v13a's: ASCII punctuation by itself, but for full stops and commas between digits; what WMT reports.
std::vector<std::string> tokenise_13a(std::string_view utf8);
// mteval-v14's: punctuation and symbols of any script by themselves, as far as they stand beside other than numbers.
std::vector<std::string> tokenise_intl(std::string_view utf8);
// Every character.
std::vector<std::string> tokenise_char(std::string_view utf8);

// That of a name: "none", "13a", "intl", "char". Throws BugError for another one.
using Tokenise = std::vector<std::string>(std::string_view utf8);
Tokenise* tokeniser(std::string_view name);

// UTF-8 text as code points and as words, for the metrics of text. Not a tokeniser: words are what
// white space separates.

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
