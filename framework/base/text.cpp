#include "framework/base/text.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace softalign {
namespace {

// C0, DEL and C1; U+2028 and U+2029, which end lines; all that Unicode calls Bidi_Control, which turns the
// direction of writing.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
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

Character character_at(std::string_view text, std::size_t at) {
  const char* const begin = text.data() + at;
  const char* next = begin;
  try {
    const char32_t code_point = utf8::next(next, text.data() + text.size());
    return {code_point, usize(next - begin)};
  } catch (const utf8::exception&) {
    return {};
  }
}

void append_utf8(std::string& utf8, char32_t code_point) {
  utf8::append(static_cast<std::uint32_t>(code_point), std::back_inserter(utf8));
}

std::size_t find_invalid_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const wrong = utf8::find_invalid(text.data(), end);
  return wrong == end ? std::string_view::npos : usize(wrong - text.data());
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t at = 0, shown = 0; at < text.size(); ++shown) {
    if (shown == most) return out + "...";
    const auto [code_point, bytes] = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(bytes, 1));
    out += bytes == 0 || is_control(code_point) ? escaped(character) : std::string(character);
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

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string with_article(std::string_view noun) {
  const bool vowel =
      !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

}  // namespace softalign
