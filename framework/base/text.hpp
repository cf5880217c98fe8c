// Text in messages: what somebody else wrote made harmless, numbers with their nouns, "did you mean". Not words and
// sentences: data/text.hpp.
#pragma once

#include <fmt/format.h>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

inline constexpr std::size_t kWhole = usize(-1);

// The character that begins at `at`; bytes is 0 where there is no valid UTF-8 (overlong forms, surrogates
// and numbers above 10FFFF are none).
struct Character {
  char32_t code_point = 0;
  std::size_t bytes = 0;
};
Character character_at(std::string_view text, std::size_t at);

// The code point must be one that UTF-8 can write: no surrogate.
void append_utf8(std::string& utf8, char32_t code_point);

// Where the first byte that is not UTF-8 stands, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// The text on one line and harmless to a terminal: control characters, marks that turn the
// direction of writing, and bytes that are not UTF-8 become \n, \t or \x1b. Cut with "..." after
// `most` characters.
std::string printable(std::string_view text, std::size_t most = 60);

bool has_control_characters(std::string_view text);

// The text as one word of a shell's command line, quoted where it must be.
std::string shell_word(const std::string& text);

// The same of a file, which is no option even where its name begins with "-".
std::string shell_file(const std::string& file);

// With the letters of ASCII in lower case.
std::string lower_case(std::string_view text);

// "a score", "an optimizer".
std::string with_article(std::string_view noun);

// A number with its noun: "1 line", "2 lines".

// The plural is the noun with an s.
std::string counted(std::integral auto count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "1,203,411"; of what is not negative.
inline std::string with_commas(long long number) {
  std::string text = fmt::format("{}", number);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(text.begin() + at, ',');
  return text;
}

// "Did you mean": the nearest legal name for a misspelt one.

// Whether someone who wrote `given` may have meant `legal`.
bool alike(std::string_view given, std::string_view legal);

// What is called `name` elsewhere, as it is called here: lr is learning_rate. Other names are returned as
// they are.
std::string_view name_here(std::string_view name);

// "; did you mean 'gain'? legal: gain, units", without the question when nothing is near. Starts
// with "; " or is empty.
std::string suggestion(std::string_view given, const std::vector<std::string>& legal);

// The same where nothing here is near, and an option of another block of `known` is called so: "; did you mean
// train.optimizer.learning_rate? legal: ...".
std::string suggestion_among(std::string_view given,
                             const std::vector<std::string>& legal,
                             const std::vector<std::string>& known);

}  // namespace softalign
