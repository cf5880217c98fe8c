// Text in messages: escaping untrusted text, numbers with their nouns, "did you mean", tables. For words and
// sentences, see data/text.hpp.
#pragma once

#include <fmt/format.h>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

inline constexpr std::size_t kWhole = usize(-1);

// The character that begins at `at`; bytes is 0 for invalid UTF-8 (also overlong forms, surrogates and
// numbers above 10FFFF).
struct Character {
  char32_t code_point = 0;
  std::size_t bytes = 0;
};
Character character_at(std::string_view text, std::size_t at);

// The code point must not be a surrogate.
void append_utf8(std::string& utf8, char32_t code_point);

// The offset of the first byte that is not UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// Returns whether bytes can be text in a record: valid UTF-8 without NUL, which ends HDF5's strings.
bool is_text(std::string_view bytes);

// Returns the text on one line and harmless to a terminal: control characters, marks that change
// the direction of writing, and bytes that are not UTF-8 become \n, \t or \x1b. Truncates with
// "..." after `most` characters.
std::string printable(std::string_view text, std::size_t most = 60);

bool has_control_characters(std::string_view text);

// Returns the text as one word of a shell command, quoted if necessary.
std::string shell_word(const std::string& text);

// Returns a file name as a shell word that is not mistaken for an option if it begins with "-".
std::string shell_file(const std::string& file);

// Returns the text with ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Returns the noun with its article: "a score", "an optimizer".
std::string with_article(std::string_view noun);

// A number with its noun: "1 line", "2 lines". The plural is the noun with an s.
std::string counted(std::integral auto count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Returns "1,203,411"; for non-negative numbers.
inline std::string with_commas(long long number) {
  std::string text = fmt::format("{}", number);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(text.begin() + at, ',');
  return text;
}

// "Did you mean": suggests the nearest legal name for a misspelt one.

// Returns whether someone who wrote `given` may have meant `legal`.
bool alike(std::string_view given, std::string_view legal);

// Returns our name for a common synonym, such as learning_rate for lr; other names unchanged.
std::string_view name_here(std::string_view name);

// Returns "; did you mean 'gain'? legal: gain, units", without the question if no name is near.
// Starts with "; " or is empty.
std::string suggestion(std::string_view given, const std::vector<std::string>& legal);

// Like suggestion, but if no legal name is near, suggests the options with this name in other blocks, from `known`:
// "; did you mean train.optimizer.learning_rate? legal: ...".
std::string suggestion_among(std::string_view given,
                             const std::vector<std::string>& legal,
                             const std::vector<std::string>& known);

// Text in columns, for people: the width of a terminal and of text, and tables.

// Returns the columns of the terminal at a file descriptor, or $COLUMNS if set; 0 if it is not a terminal.
std::size_t terminal_columns(int descriptor);

// Returns the columns that UTF-8 text takes: 2 for a wide character, 0 for a combining one. Needs LC_CTYPE to be
// UTF-8, as main sets it.
std::size_t columns_of(std::string_view text);

// Returns the text truncated to at most `most` columns; truncated text ends in "…".
std::string cut(std::string_view text, std::size_t most);

// Wraps the words of a text to lines of at most `most` columns; longer words are broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t most);

enum class Side { left, right };
// Pads the text to `width` columns; longer text is not changed.
std::string aligned(std::string_view text, std::size_t width, Side side = Side::left);

// Returns the characters of a text as they are drawn, combining ones with their base.
std::vector<std::string> glyphs(std::string_view text);

class Table {
 public:
  struct Column {
    std::string name;
    Side side = Side::left;
    std::size_t least =
        0;               // may be truncated to this number of columns if there is no room; 0: never
    int spare = 0;       // may be omitted if there is no room, the highest first; 0: never
    bool wraps = false;  // wraps to the next line instead of being truncated
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // one for each column
  bool empty() const { return rows_.empty(); }
  // Returns a line of names and the rows, with two blanks between columns and none at the end of a
  // line. In a terminal of `most` columns (0: no limit), cells are wrapped or truncated and columns
  // omitted, as the columns allow, and the last line names the omitted ones; a table that is still
  // too wide continues below, with the first column repeated.
  std::string str(std::size_t most = 0) const;
  // Fits the table to standard output if that is a terminal.
  std::string fitted() const;

 private:
  std::string band(const std::vector<std::size_t>& columns,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace softalign
