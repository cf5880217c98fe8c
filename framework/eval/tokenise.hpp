// sacreBLEU's tokenisations: what BLEU calls a word. All of them end at Unicode white space.
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

}  // namespace softalign
