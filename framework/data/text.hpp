// Splits lines of text into words or code points, and cleans them. There is no tokenisation: tokens are
// separated by whitespace.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// The character that subword and character symbols have in place of a space, as in SentencePiece.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, a low block

// Splits a line at ASCII whitespace; the words are views of `line`.
std::vector<std::string_view> split_words(std::string_view line);

// Return all words of a line, or the first `count`, separated by single spaces.
std::string single_spaced(std::string_view line);
std::string first_words(std::string_view line, Index count);

// Returns the finite number that the whole text denotes, or nullopt if it does not denote one.
std::optional<double> number_in(std::string_view text);

// Concatenates symbols to text; each space mark becomes a space.
std::string unmark_spaces(std::string_view marked);

// Returns for each symbol the index of its word in the concatenated text. A symbol with characters of several
// words belongs to the last of them, a symbol without characters to the word before or after it (of_word).
enum class LoneMark { before, after };
std::vector<Index> words_of_marked(const std::vector<std::string>& symbols, LoneMark of_word);

// Splits UTF-8 text into characters. Throws DataError if it is not valid.
std::vector<std::string_view> code_points(std::string_view text);

}  // namespace softalign
