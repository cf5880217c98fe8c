#include "framework/config/characters.hpp"

namespace softalign {
namespace {

// Bytes of the UTF-8 character that begins at `at`, 0 when there is none (RFC 3629).
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

}  // namespace

void check_characters(std::string_view text, const Position& start) {
  Position where = start;
  std::size_t line_start = 0;
  bool indentation = true;
  for (std::size_t at = 0; at < text.size();) {
    const auto fail = [&](std::string_view what) {
      if (where.line > 0) where.column = static_cast<int>(at - line_start) + 1;
      throw SpecError("{}: {}", where.str(), what);
    };
    const char c = text[at];
    const std::size_t length = utf8_length(text, at);
    if (length == 0) fail("not UTF-8; save the text as UTF-8");
    if (c == '\t' && indentation) fail("a tab in the indentation; indent with spaces");
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
