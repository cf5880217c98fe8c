#include "framework/config/characters.hpp"

#include "framework/base/text.hpp"

namespace softalign {
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
    const std::size_t length = character_at(text, at).bytes;
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
