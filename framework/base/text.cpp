#include "framework/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8.h>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <iterator>
#include <numeric>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

// C0, DEL and C1; U+2028 and U+2029, which end lines; Unicode's Bidi_Control, which changes the direction of writing.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(std::string_view character) {
  if (character == "\n") return "\\n";
  if (character == "\t") return "\\t";
  if (character == "\r") return "\\r";
  std::string out;
  for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const char* const begin = text.data() + at;
  const char* next = begin;
  try {
    const char32_t code_point = utf8::next(next, text.data() + text.size());
    return {code_point, usize(next - begin)};
  } catch (const utf8::exception&) {
    return {};
  }
}

void append_utf8(std::string& utf8, char32_t code_point) {
  utf8::append(static_cast<std::uint32_t>(code_point), std::back_inserter(utf8));
}

std::size_t find_invalid_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const wrong = utf8::find_invalid(text.data(), end);
  return wrong == end ? std::string_view::npos : usize(wrong - text.data());
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t at = 0, shown = 0; at < text.size(); ++shown) {
    if (shown == most) return out + "...";
    const auto [code_point, bytes] = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(bytes, 1));
    out += bytes == 0 || is_control(code_point) ? escaped(character) : std::string(character);
    at += character.size();
  }
  return out;
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
  });
}

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._-+=", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  const std::string shown = printable(text, kWhole);
  const bool escapes = shown != text;  // escapes such as $'a\x1bb' need the quotes $'...'
  std::string word = escapes ? "$'" : "'";
  for (const char c : text)
    if (c == '\'')
      word += escapes ? "\\'" : "'\\''";
    else
      word += escapes && c == '\\' ? "\\\\" : std::string(1, c);
  return printable(word, kWhole) + "'";
}

std::string shell_file(const std::string& file) {
  return shell_word(file.starts_with('-') ? "./" + file : file);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string with_article(std::string_view noun) {
  const bool vowel =
      !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

namespace {

constexpr std::size_t kLongestName = 200;  // `distance` takes time proportional to both lengths

// Edit distance with adjacent transpositions (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[b.size()];
}

}  // namespace

bool alike(std::string_view given, std::string_view legal) {
  return given.size() <= kLongestName &&
         distance(lower_case(given), legal) <= std::max<std::size_t>(2, given.size() / 3);
}

std::string_view name_here(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"lr", "learning_rate"},
      {"batch_size", "batch.sentences"},
      {"hidden_size", "units"},
      {"num_epochs", "epochs"},
      {"max_steps", "max_updates"},
      {"beam_size", "width"},
      {"random_seed", "seed"}};
  const auto found = std::ranges::find(kNames, name, [](const auto& names) { return names.first; });
  return found == std::end(kNames) ? name : found->second;
}

std::string suggestion(std::string_view given, const std::vector<std::string>& legal) {
  if (legal.empty()) return "";
  const std::string start = lower_case(given.substr(0, kLongestName));
  const auto nearest = std::ranges::min_element(
      legal, {}, [&](const std::string& name) { return distance(start, name); });
  std::string text = ";";
  if (alike(given, *nearest)) text += fmt::format(" did you mean '{}'?", printable(*nearest));
  text += " legal: ";
  for (const std::string& name : legal)
    text += (&name == &legal.front() ? "" : ", ") + printable(name);
  return text;
}

std::string suggestion_among(std::string_view given,
                             const std::vector<std::string>& legal,
                             const std::vector<std::string>& known) {
  const std::string here = suggestion(given, legal);
  if (std::ranges::any_of(legal, [&](const auto& x) { return alike(given, x); })) return here;
  const std::string end = fmt::format(".{}", name_here(given));
  std::vector<std::string> elsewhere;
  std::ranges::copy_if(known, std::back_inserter(elsewhere), [&](const std::string& path) {
    return ("." + path).ends_with(end);
  });
  if (elsewhere.empty()) return here;
  return fmt::format("; did you mean {}?{}",
                     fmt::join(elsewhere, " or "),
                     here.substr(std::min<std::size_t>(1, here.size())));
}

namespace {

struct Drawn {
  std::string_view bytes;
  std::size_t columns;
};

// The first character of a non-empty text; an invalid byte is one column wide.
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
  for (std::size_t all = total(widths); all > most; --all) {  // narrows the widest that wraps
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
  if (!left_out.empty()) out += fmt::format("not shown: {}\n", left_out);
  return out;
}

std::string Table::fitted() const { return str(terminal_columns(STDOUT_FILENO)); }

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos &&
         find_invalid_utf8(bytes) == std::string_view::npos;
}

}  // namespace softalign
