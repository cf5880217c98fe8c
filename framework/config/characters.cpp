#include "framework/config/characters.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

bool begins_a_flow(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// An option's name, a colon and a value without a blank between them: "b:2", and not "http://b.c".
bool lacks_blank(std::string_view text, std::size_t colon) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         std::isalpha(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text.substr(0, colon), is_of_name) &&
         std::string_view(" :/").find(text[colon + 1]) == std::string_view::npos;
}

// Blanks of other widths, and characters without one.
bool looks_like_a_blank(char32_t c) {
  return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x202f || c == 0x205f ||
         c == 0x2060 || c == 0x3000 || c == 0xfeff;
}

}  // namespace

std::string slip_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (looks_like_a_blank(character.code_point))
      return fmt::format(" (it holds U+{:04X}, which only looks like a blank; type a space)",
                         static_cast<std::uint32_t>(character.code_point));
    at += std::max<std::size_t>(character.bytes, 1);
  }
  const std::size_t colon = text.find(':');
  if (!lacks_blank(text, colon)) return "";
  return fmt::format(" (no blank behind its colon; write {}: {})",
                     printable(text.substr(0, colon)),
                     printable(text.substr(colon + 1)));
}

void check_characters(std::string_view text, const Position& start) {
  Position where = start;
  std::size_t line_start = 0;
  bool indentation = true;
  const bool tabs = begins_a_flow(text), ends_lines = text.find('\n') != std::string_view::npos;
  for (std::size_t at = 0; at < text.size();) {
    const auto fail = [&](std::string_view what) {
      if (where.line > 0) where.column = static_cast<int>(at - line_start) + 1;
      throw SpecError("{}: {}", where.str(), what);
    };
    const char c = text[at];
    const std::size_t length = character_at(text, at).bytes;
    if (length == 0) fail("not UTF-8; save the text as UTF-8");
    if (c == '\t' && indentation && !tabs) fail("a tab in the indentation; indent with spaces");
    if (c == '\r' && !ends_lines && at + 1 < text.size())
      fail(
          "a carriage return alone, as old Mac systems end lines; convert the file: tr '\\r' "
          "'\\n'");
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      fail(fmt::format(
          "control character 0x{:02x}; remove it, or write \"\\x{:02x}\" in double quotes",
          byte,
          byte));
    if (c != ' ') indentation = false;
    at += length;
    if (c == '\n') {
      if (where.line > 0) ++where.line;
      line_start = at;
      indentation = true;
    }
  }
}

}  // namespace softalign
