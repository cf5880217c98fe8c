#include "framework/eval/unicode.hpp"

#include <cstddef>

namespace softalign {
namespace {

struct Decoded {
  char32_t code_point;
  std::size_t bytes;
};

constexpr Decoded kReplacement{0xFFFD, 1};

// The first code point of a text that is not empty. Overlong forms, surrogates and numbers above
// 10FFFF are invalid.
Decoded decode_first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return kReplacement;
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kReplacement;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (overlong || surrogate || value > 0x10FFFF) return kReplacement;
  return {value, length};
}

}  // namespace

std::u32string decode_utf8(std::string_view utf8) {
  std::u32string points;
  points.reserve(utf8.size());
  while (!utf8.empty()) {
    const Decoded next = decode_first(utf8);
    points.push_back(next.code_point);
    utf8.remove_prefix(next.bytes);
  }
  return points;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::vector<std::string> unicode_words(std::string_view utf8) {
  std::vector<std::string> words;
  bool inside = false;
  while (!utf8.empty()) {
    const Decoded next = decode_first(utf8);
    const bool space = is_space(next.code_point);
    if (!space) {
      if (!inside) words.emplace_back();
      words.back().append(utf8.substr(0, next.bytes));
    }
    inside = !space;
    utf8.remove_prefix(next.bytes);
  }
  return words;
}

}  // namespace softalign
