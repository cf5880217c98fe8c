// Text that somebody else wrote, as a message may show it. Not words and sentences: data/text.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace softalign {

inline constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

// Bytes of the UTF-8 character that begins at `at`, 0 when there is none (RFC 3629).
std::size_t utf8_length(std::string_view text, std::size_t at);

// The text on one line and harmless to a terminal: control characters, marks that turn the
// direction of writing, and bytes that are not UTF-8 become \n, \t or \x1b. Cut with "..." after
// `most` characters.
std::string printable(std::string_view text, std::size_t most = 60);

bool has_control_characters(std::string_view text);

// The text as one word of a shell's command line, quoted where it must be.
std::string shell_word(const std::string& text);

// The same of a file, which is no option even where its name begins with "-".
std::string shell_file(const std::string& file);

// "a score", "an optimizer".
std::string with_article(std::string_view noun);

}  // namespace softalign
