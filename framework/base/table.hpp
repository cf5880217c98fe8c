// Text in columns, for people: what of a terminal's columns text takes, and tables of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softalign {

// Columns of the terminal behind a file descriptor, $COLUMNS where that is set; 0 when it is none.
std::size_t terminal_columns(int descriptor);

// Columns that UTF-8 text takes: 2 for a wide character, 0 for a combining one. Needs LC_CTYPE of UTF-8, as main sets it.
std::size_t columns_of(std::string_view text);

// The text cut to at most `most` columns, ending in "…" when something is missing.
std::string cut(std::string_view text, std::size_t most);

// The words of a text in lines of at most `most` columns; a longer word is broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t most);

enum class Side { left, right };
// The text at one side of `width` columns; longer text stays whole.
std::string aligned(std::string_view text, std::size_t width, Side side = Side::left);

// The characters of a text as they are drawn: combining ones stay with their base.
std::vector<std::string> glyphs(std::string_view text);

class Table {
 public:
  struct Column {
    std::string name;
    Side side = Side::left;
    std::size_t least = 0;  // may be cut to so many columns where there is no room; 0: never
    int spare = 0;          // may be left out where there is no room, the highest first; 0: never
    bool wraps = false;     // goes on in the next line where it would be cut
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // one for each column
  bool empty() const { return rows_.empty(); }
  // A line of names, then the rows; two blanks between columns, none at the end. In a terminal of
  // `most` columns (0: no limit) cells are wrapped or cut and columns left out, as they allow, and
  // the last line says which; what is still too wide goes on below, behind the first column again.
  std::string str(std::size_t most = 0) const;
  // For standard output, where it is a terminal.
  std::string fitted() const;

 private:
  std::string band(const std::vector<std::size_t>& columns,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace softalign
