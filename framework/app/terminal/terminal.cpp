#include "framework/app/terminal/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cwchar>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {

namespace {

struct Character {
  std::string_view bytes;
  std::size_t columns;
};

// The first character of a text that is not empty; a byte that is no UTF-8 is one column.
Character first(std::string_view text) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t size = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) return {text.substr(0, 1), 1};
  return {text.substr(0, size), usize(std::max(0, wcwidth(wide)))};
}

}  // namespace

void write_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void write_text(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    safe += printable(text.substr(at, end - at), kWhole);
    if (end < text.size()) safe += text[end];
    at = end + 1;
  }
  fmt::print("{}", safe);
}

void write_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) != 0)
    write_text(text);
  else
    fmt::print("{}", text);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  std::size_t head = most / 2, tail = text.size() - most / 2;
  while (head > 0 && inside(text[head])) --head;
  while (tail < text.size() && inside(text[tail])) ++tail;
  return fmt::format("{} … {}", text.substr(0, head), text.substr(tail));
}

bool output_is_closed() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

std::size_t terminal_columns(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  if (const char* given = std::getenv("COLUMNS"))
    if (const long columns = std::strtol(given, nullptr, 10); columns > 0 && columns < 100000)
      return usize(columns);
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::size_t terminal_lines(int descriptor) {
  struct winsize size = {};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character c = first(text);
    columns += c.columns;
    text.remove_prefix(c.bytes.size());
  }
  return columns;
}

std::string cut(std::string_view text, std::size_t most) {
  if (columns_of(text) <= most) return std::string(text);
  std::string kept;
  std::size_t columns = 1;  // the ellipsis
  while (!text.empty()) {
    const Character c = first(text);
    columns += c.columns;
    if (columns > most) break;
    kept += c.bytes;
    text.remove_prefix(c.bytes.size());
  }
  return most == 0 ? "" : kept + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t most) {
  std::vector<std::string> lines = {""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!lines.back().empty() && columns_of(lines.back()) + 1 + columns_of(word) > most)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    for (const std::string& glyph : glyphs(word)) {
      if (!lines.back().empty() && columns_of(lines.back()) + columns_of(glyph) > most)
        lines.emplace_back();
      lines.back() += glyph;
    }
    at = end + 1;
  }
  return lines;
}

std::string aligned(std::string_view text, std::size_t width, Side side) {
  const std::size_t columns = columns_of(text);
  const std::string blanks(width > columns ? width - columns : 0, ' ');
  return side == Side::left ? std::string(text) + blanks : blanks + std::string(text);
}

std::vector<std::string> glyphs(std::string_view text) {
  std::vector<std::string> drawn;
  while (!text.empty()) {
    const Character c = first(text);
    if (c.columns == 0 && !drawn.empty())
      drawn.back() += c.bytes;
    else
      drawn.emplace_back(c.bytes);
    text.remove_prefix(c.bytes.size());
  }
  return drawn;
}

std::string clock_time(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::clamp(seconds, 0.0, 3.6e6)));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86400);
}

std::string rough_count(double count) {
  if (count < 999.5) return fmt::format("{:.0f}", count);
  if (count < 99950) return fmt::format("{:.1f}k", count / 1e3);
  if (count < 999500) return fmt::format("{:.0f}k", count / 1e3);
  return fmt::format("{:.1f}M", count / 1e6);
}

}  // namespace softalign::app
