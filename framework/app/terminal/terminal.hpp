// What a terminal is to us: a number of columns, and text that takes some of them. It draws
// nothing.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softalign::app {

// To standard error, as far as it can be written: a message that nobody reads stops no run.
void write_error(const std::string& text);

// For people, on standard output. Nothing that names, hosts or texts bring along reaches a terminal:
// what printable escapes is escaped, but the ends of lines and tabulators.
void write_text(std::string_view text);
// For other programs: as it is, unless standard output is a terminal.
void write_data(std::string_view text);
template <class... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  write_text(fmt::format(format, std::forward<Args>(args)...));
}

// A message of at most `most` bytes, the middle of a longer one left out: what is wrong stands at
// its beginning, the remedy at its end.
std::string shortened(std::string_view text, std::size_t most = 1000);

// Whether standard output is a pipe that nobody reads any more.
bool output_is_closed();

// Columns of the terminal behind a file descriptor, $COLUMNS where that is set; 0 when it is none.
std::size_t terminal_columns(int descriptor);

// Lines of the terminal behind a file descriptor; 0 when it is none.
std::size_t terminal_lines(int descriptor);

// Columns that UTF-8 text takes: 2 for a wide character, 0 for a combining one.
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

// "1:23:45", "12:34", from seconds.
std::string clock_time(double seconds);
// "3 s", "5 min", "2 h", "40 d".
std::string rough_time(double seconds);
// "834", "12.3k", "4.5M".
std::string rough_count(double count);

}  // namespace softalign::app
