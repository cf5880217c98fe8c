#include "framework/eval/unicode.hpp"

#include <algorithm>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

// Calls use(code point, bytes) for each character. A byte that is no part of valid UTF-8 is U+FFFD.
template <class Use>
void each_character(std::string_view utf8, const Use& use) {
  while (!utf8.empty()) {
    const auto [code_point, bytes] = character_at(utf8, 0);
    use(bytes == 0 ? char32_t{0xFFFD} : code_point,
        utf8.substr(0, std::max<std::size_t>(bytes, 1)));
    utf8.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

}  // namespace

std::u32string decode_utf8(std::string_view utf8) {
  std::u32string points;
  points.reserve(utf8.size());
  each_character(utf8, [&](char32_t point, std::string_view) { points.push_back(point); });
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
  each_character(utf8, [&](char32_t point, std::string_view bytes) {
    const bool space = is_space(point);
    if (!space) {
      if (!inside) words.emplace_back();
      words.back().append(bytes);
    }
    inside = !space;
  });
  return words;
}

}  // namespace softalign
