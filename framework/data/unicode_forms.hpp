// Unicode writes many characters in two ways: as one code point (form NFC) or as a letter and the marks on it (form
// NFD). They look the same, and to a vocabulary they are different words.
#pragma once

#include <span>
#include <string_view>

namespace softalign {

// A code point and the two that stand for it.
struct Composition {
  char32_t whole, base, mark;
};
std::span<const Composition> compositions();  // without Hangul syllables; by `whole`, rising

struct UnicodeForms {
  bool composed = false;         // a code point that two could stand for
  bool decomposed = false;       // two code points that one could stand for
  bool byte_order_mark = false;  // U+FEFF
};
UnicodeForms forms_of(std::string_view utf8);

}  // namespace softalign
