// What is written to standard output and standard error, and numbers as people read them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "framework/base/text.hpp"

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

// Lines of the terminal behind a file descriptor; 0 when it is none.
std::size_t terminal_lines(int descriptor);

// "1:23:45", "12:34", from seconds.
std::string clock_time(double seconds);
// "3 s", "5 min", "2 h", "40 d".
std::string rough_time(double seconds);
// "834", "12.3k", "4.5M".
std::string rough_count(double count);

}  // namespace softalign::app
