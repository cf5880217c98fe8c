#include "framework/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utf8.h>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

namespace softalign {
namespace {

// C0, DEL and C1; U+2028 and U+2029, which end lines; all that Unicode calls Bidi_Control, which turns the
// direction of writing.
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
  const bool escapes = shown != text;  // as in $'a\x1bb', which only these quotes understand
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

constexpr std::size_t kLongestName = 200;  // the distance takes time in the product of the lengths

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

}  // namespace softalign
