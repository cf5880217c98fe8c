#include "framework/data/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {

std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view kWhitespace = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  std::size_t begin = line.find_first_not_of(kWhitespace);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kWhitespace, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kWhitespace, end);
  }
  return words;
}

std::string single_spaced(std::string_view line) {
  return first_words(line, std::numeric_limits<Index>::max());
}

std::string first_words(std::string_view line, Index count) {
  std::string joined;
  for (const std::string_view word : split_words(line)) {
    if (count-- <= 0) break;
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || !std::isfinite(number)) return {};
  return number;
}

std::string unmark_spaces(std::string_view marked) {
  std::string text;
  for (std::size_t k = 0; k < marked.size();) {
    const bool space = marked.substr(k, kSpaceMark.size()) == kSpaceMark;
    text += space ? ' ' : marked[k];
    k += space ? kSpaceMark.size() : 1;
  }
  return single_spaced(text);
}

std::vector<Index> words_of_marked(const std::vector<std::string>& symbols, LoneMark of_word) {
  std::vector<Index> words;
  Index begun = 0;
  bool between = true;  // two words
  for (const std::string_view symbol : symbols) {
    bool lone = true;
    for (std::size_t at = 0; at < symbol.size();) {
      if (symbol.substr(at).starts_with(kSpaceMark)) {
        between = true;
        at += kSpaceMark.size();
      } else {
        begun += between;
        lone = between = false;
        at = std::min(symbol.find(kSpaceMark, at), symbol.size());
      }
    }
    words.push_back(lone && of_word == LoneMark::after ? begun : begun - 1);
  }
  for (Index& word : words) word = std::clamp<Index>(word, 0, std::max<Index>(begun - 1, 0));
  return words;
}

std::vector<std::string_view> code_points(std::string_view text) {
  if (const std::size_t wrong = find_invalid_utf8(text); wrong != std::string_view::npos)
    throw DataError("text is not UTF-8 at byte {}; convert it with iconv", wrong + 1);
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().size())
    characters.push_back(text.substr(at, character_at(text, at).bytes));
  return characters;
}

}  // namespace softalign
