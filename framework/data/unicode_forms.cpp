#include "framework/data/unicode_forms.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

bool is_hangul_syllable(char32_t c) { return c >= 0xac00 && c <= 0xd7a3; }
bool are_hangul_parts(char32_t lead, char32_t vowel) {
  return lead >= 0x1100 && lead <= 0x1112 && vowel >= 0x1161 && vowel <= 0x1175;
}

std::uint64_t pair_of(char32_t base, char32_t mark) { return (std::uint64_t{base} << 32) | mark; }

bool is_composed(char32_t c) {
  return is_hangul_syllable(c) ||
         std::ranges::binary_search(compositions(), c, {}, &Composition::whole);
}

bool compose(char32_t base, char32_t mark) {
  static const std::vector<std::uint64_t> kPairs = [] {
    std::vector<std::uint64_t> pairs;
    for (const Composition& one : compositions()) pairs.push_back(pair_of(one.base, one.mark));
    std::ranges::sort(pairs);
    return pairs;
  }();
  return are_hangul_parts(base, mark) || std::ranges::binary_search(kPairs, pair_of(base, mark));
}

}  // namespace

UnicodeForms forms_of(std::string_view utf8) {
  UnicodeForms forms;
  char32_t before = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    if (byte < 0x80) {
      before = byte;
      ++at;
      continue;
    }
    const Character character = character_at(utf8, at);
    const char32_t c = character.code_point;
    forms.composed |= is_composed(c);
    forms.decomposed |= compose(before, c);
    forms.byte_order_mark |= c == 0xfeff;
    before = c;
    at += std::max<std::size_t>(character.bytes, 1);
  }
  return forms;
}

}  // namespace softalign
