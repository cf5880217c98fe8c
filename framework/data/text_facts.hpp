// Statistics of a text that explain surprises which are not errors: unknown symbols, and Unicode forms.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// Facts of the kept sentences of one file.
struct TextFacts {
  std::string
      option;         // that names the file: "train.source", the second of several "train.source.2"
  Index symbols = 0;  // in running text
  Index unknown = 0;  // of them, not in the vocabulary
  Index types = 0;    // different symbols
  Index unknown_types = 0;  // of them, not in the vocabulary
  Index in_lower_case = 0;  // of the unknown, those that are known in lower case
  Index with_points = 0;    // of the unknown, those that are known without punctuation at an end
  // Lines with characters in Unicode's form NFC, in form NFD, and with a byte order mark that is not the file's first
  // character; of the latter two the first line.
  Index composed = 0;
  Index decomposed = 0;
  Index marks = 0;
  Index first_decomposed = 0;
  Index first_mark = 0;
  std::vector<std::string> examples = {};  // the first unknown types

  double unknown_percent() const {
    return symbols == 0 ? 0 : 100 * static_cast<double>(unknown) / static_cast<double>(symbols);
  }
};

class TextSurvey {
 public:
  explicit TextSurvey(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), known_(usize(vocabulary.size())) {}

  // tokens: the line as symbols of the vocabulary.
  void add(Index number, std::string_view line, std::span<const Token> tokens);
  TextFacts facts(std::string option) const;

 private:
  void add_unknown(const std::string& symbol);

  const Vocabulary& vocabulary_;
  std::vector<bool> known_;  // whether the symbol occurs
  std::set<std::string, std::less<>> unknown_;
  TextFacts facts_;
};

// Notes for people on texts: unknown symbols, mixtures of forms, marks, and dev and test texts that are written
// otherwise than the training text of their side, which is among `trained_on`.
std::vector<std::string> notes_of(std::span<const TextFacts> texts,
                                  std::span<const TextFacts> trained_on);

// Unicode can write many characters in two ways: as one code point (form NFC) or as a letter with combining marks
// (form NFD). They look the same, but a vocabulary treats them as different words.

// A code point and the two that it decomposes into.
struct Composition {
  char32_t whole, base, mark;
};
std::span<const Composition> compositions();  // without Hangul syllables; by `whole`, rising

struct UnicodeForms {
  bool composed = false;         // a code point that could be decomposed
  bool decomposed = false;       // two code points that could be composed
  bool byte_order_mark = false;  // U+FEFF
};
UnicodeForms forms_of(std::string_view utf8);

}  // namespace softalign
