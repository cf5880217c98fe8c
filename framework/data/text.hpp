// Splits a line of text into words or code points, and cleans it. No tokenisation: tokens are
// separated by white space.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// The mark that subword and character symbols write for a space, as SentencePiece does.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, a low block

// The parts between ASCII whitespace; they point into `line`.
std::vector<std::string_view> split_words(std::string_view line);

// The words of a line, separated by single spaces: all, or the first `count`.
std::string single_spaced(std::string_view line);
std::string first_words(std::string_view line, Index count);

// The finite number that the text is, as a whole; empty: it is not one.
std::optional<double> number_in(std::string_view text);

// Concatenates symbols to text; each space mark becomes a space.
std::string unmark_spaces(std::string_view marked);

// For each of these symbols, the index of the word of that text which it is part of: of the last one, where it
// has characters of several, and where it has none, of the word before or after it.
enum class LoneMark { before, after };
std::vector<Index> words_of_marked(const std::vector<std::string>& symbols, LoneMark of_word);

// The characters of valid UTF-8 text. Throws DataError when it is not valid.
std::vector<std::string_view> code_points(std::string_view text);

}  // namespace softalign
