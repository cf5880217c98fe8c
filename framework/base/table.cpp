#include "framework/base/table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

struct Drawn {
  std::string_view bytes;
  std::size_t columns;
};

// The first character of a text that is not empty; a byte that is no UTF-8 is one column.
Drawn first_drawn(std::string_view text) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t size = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) return {text.substr(0, 1), 1};
  return {text.substr(0, size), usize(std::max(0, wcwidth(wide)))};
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  if (const char* given = std::getenv("COLUMNS"))
    if (const long columns = std::strtol(given, nullptr, 10); columns > 0 && columns < 100000)
      return usize(columns);
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Drawn c = first_drawn(text);
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
    const Drawn c = first_drawn(text);
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
    const Drawn c = first_drawn(text);
    if (c.columns == 0 && !drawn.empty())
      drawn.back() += c.bytes;
    else
      drawn.emplace_back(c.bytes);
    text.remove_prefix(c.bytes.size());
  }
  return drawn;
}

void Table::row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw BugError("a row of {} cells for {} columns", cells.size(), columns_.size());
  for (std::string& cell : cells) cell = printable(cell, kWhole);
  rows_.push_back(std::move(cells));
}

std::string Table::band(const std::vector<std::size_t>& columns,
                        const std::vector<std::size_t>& widths) const {
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (const std::size_t c : columns)
      text += (c == columns.front() ? "" : "  ") +
              aligned(cut(cell(c), widths[c]), widths[c], columns_[c].side);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line([&](std::size_t c) { return columns_[c].name; });
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells(columns_.size());
    std::size_t height = 1;
    for (const std::size_t c : columns) {
      const bool whole = !columns_[c].wraps || columns_of(row[c]) <= widths[c];
      cells[c] = whole ? std::vector{row[c]} : wrapped(row[c], widths[c]);
      height = std::max(height, cells[c].size());
    }
    for (std::size_t l = 0; l < height; ++l)
      line([&](std::size_t c) { return l < cells[c].size() ? cells[c][l] : std::string(); });
  }
  return out;
}

std::string Table::str(std::size_t most) const {
  std::vector<std::size_t> shown, widths, least;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    shown.push_back(c);
    widths.push_back(columns_of(columns_[c].name));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(row[c]));
    least.push_back(columns_[c].least > 0 ? std::min(columns_[c].least, widths[c]) : widths[c]);
  }
  if (most == 0) return band(shown, widths);

  const auto total = [&](const std::vector<std::size_t>& of) {
    std::size_t sum = 2 * (shown.size() - 1);
    for (const std::size_t c : shown) sum += of[c];
    return sum;
  };
  std::string left_out;
  while (total(least) > most) {
    const auto spare = [&](std::size_t a, std::size_t b) {
      return columns_[a].spare < columns_[b].spare;
    };
    const auto go = std::max_element(shown.begin(), shown.end(), spare);
    if (columns_[*go].spare == 0) break;
    left_out += (left_out.empty() ? "" : ", ") + columns_[*go].name;
    shown.erase(go);
  }
  const auto room = [&](std::size_t c) { return columns_[c].wraps ? widths[c] - least[c] : 0; };
  for (std::size_t all = total(widths); all > most; --all) {  // the widest that wraps, by one
    const auto widest = std::ranges::max_element(
        shown, {}, [&](std::size_t c) { return room(c) > 0 ? widths[c] : 0; });
    if (room(*widest) == 0) break;
    --widths[*widest];
  }
  for (auto c = shown.rbegin(); c != shown.rend(); ++c)
    if (const std::size_t all = total(widths); all > most)
      widths[*c] = std::max(least[*c], widths[*c] - std::min(widths[*c], all - most));

  std::string out;
  std::vector<std::size_t> columns = {shown.front()};
  std::size_t used = widths[shown.front()];
  for (std::size_t i = 1; i < shown.size(); ++i) {
    if (columns.size() > 1 && used + 2 + widths[shown[i]] > most) {
      out += band(columns, widths) + "\n";
      columns = {shown.front()};
      used = widths[shown.front()];
    }
    columns.push_back(shown[i]);
    used += 2 + widths[shown[i]];
  }
  out += band(columns, widths);
  if (!left_out.empty()) out += fmt::format("no room for: {}\n", left_out);
  return out;
}

std::string Table::fitted() const { return str(terminal_columns(STDOUT_FILENO)); }

}  // namespace softalign
