// Statistics of texts that explain surprising results without an error: unknown symbols and Unicode forms.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// Statistics of the kept sentences of one file.
struct TextFacts {
  std::string
      option;         // naming the file: "train.source", for the second of several "train.source.2"
  Index symbols = 0;  // in running text
  Index unknown = 0;  // occurrences of symbols that are not in the vocabulary
  Index types = 0;    // distinct symbols
  Index unknown_types = 0;  // types that are not in the vocabulary
  Index in_lower_case = 0;  // unknown symbols that are known in lower case
  Index with_points = 0;    // unknown symbols that are known without punctuation at their ends
  // Numbers of lines with characters in Unicode form NFC, in form NFD, and with a byte order mark that is not the
  // file's first character; and the first such line for the latter two.
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

// Collects the statistics of a file line by line.
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
  std::vector<bool> known_;  // [symbols]: the symbol occurs
  std::set<std::string, std::less<>> unknown_;
  TextFacts facts_;
};

// Returns notes for the user on unknown symbols, mixed Unicode forms, byte order marks, and texts in another form
// than the training text of their side in `trained_on`.
std::vector<std::string> notes_of(std::span<const TextFacts> texts,
                                  std::span<const TextFacts> trained_on);

// Unicode can write many characters in two ways: as one code point (form NFC) or as a letter with combining marks
// (form NFD). They look the same, but a vocabulary treats them as different words.

// A code point and the two code points that it decomposes into.
struct Composition {
  char32_t whole, base, mark;
};
std::span<const Composition> compositions();  // without Hangul syllables; sorted by `whole`

struct UnicodeForms {
  bool composed = false;         // contains a code point that could be decomposed
  bool decomposed = false;       // contains two code points that could be composed
  bool byte_order_mark = false;  // contains U+FEFF
};
UnicodeForms forms_of(std::string_view utf8);

}  // namespace softalign
