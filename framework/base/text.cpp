#include "framework/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace softalign {
namespace {

// Of one character: C0, DEL and C1; U+2028 to U+202E and U+2066 to U+2069, which end lines or turn
// the direction of writing.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

std::string escaped(std::string_view character) {
  if (character == "\n") return "\\n";
  if (character == "\t") return "\\t";
  if (character == "\r") return "\\r";
  std::string out;
  for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(at + 1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
  if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
  return length;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t at = 0, shown = 0; at < text.size(); ++shown) {
    if (shown == most) return out + "...";
    const std::size_t length = utf8_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    out += length == 0 || is_control(character) ? escaped(character) : std::string(character);
    at += character.size();
  }
  return out;
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
  });
}

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._-+=", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  const std::string shown = printable(text, kWhole);
  const bool escapes = shown != text;  // as in $'a\x1bb', which only these quotes understand
  std::string word = escapes ? "$'" : "'";
  for (const char c : text)
    if (c == '\'')
      word += escapes ? "\\'" : "'\\''";
    else
      word += escapes && c == '\\' ? "\\\\" : std::string(1, c);
  return printable(word, kWhole) + "'";
}

std::string shell_file(const std::string& file) {
  return shell_word(file.starts_with('-') ? "./" + file : file);
}

std::string with_article(std::string_view noun) {
  const bool vowel =
      !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

}  // namespace softalign
