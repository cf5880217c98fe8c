#include "framework/config/value.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <regex>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {

Value Value::scalar(std::string text, Position where, bool quoted) {
  Value value;
  value.type = Type::scalar;
  value.text = std::move(text);
  value.quoted = quoted;
  value.where = std::move(where);
  return value;
}

Value Value::as_list() const {
  if (!is_scalar()) return *this;
  Value list;
  list.type = Type::list;
  list.where = where;
  list.items.push_back(*this);
  return list;
}

Value Value::map(Position where) {
  Value value;
  value.type = Type::map;
  value.where = std::move(where);
  return value;
}

const Value::Entry* Value::find(std::string_view key) const {
  const auto found = std::find_if(
      entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Value::Entry* Value::find(std::string_view key) {
  return const_cast<Entry*>(static_cast<const Value&>(*this).find(key));
}

std::vector<std::string> Value::keys() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.key);
  return names;
}

std::string Value::flow() const {
  const auto bare = [](const std::string& word) {
    return !word.empty() &&
           word.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") ==
               std::string::npos;
  };
  std::string list;
  switch (type) {
    case Type::null:
      return "null";
    case Type::scalar:
      return !quoted && bare(text) ? text : yaml_text(text);
    case Type::list:
      for (const Value& item : items) list += (list.empty() ? "" : ", ") + item.flow();
      return "[" + list + "]";
    case Type::map:
      break;
  }
  for (const Entry& entry : entries)
    list +=
        fmt::format("{}{}: {}", list.empty() ? "" : ", ", yaml_text(entry.key), entry.value.flow());
  return "{" + list + "}";
}

std::string Value::describe() const {
  switch (type) {
    case Type::null:
      return "nothing";
    case Type::list:
      return "a list";
    case Type::map:
      return "a map";
    case Type::scalar:
      break;
  }
  return fmt::format(
      "{}'{}'{}", quoted ? "the quoted text " : "", printable(text), quoted ? "" : slip_in(text));
}

namespace {

template <class... Args>
[[noreturn]] void fault(fmt::format_string<Args...> format, Args&&... args) {
  throw ScalarFault(fmt::format(format, std::forward<Args>(args)...));
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view unsigned_part(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

// Explains why a text that looks like a number to people or to YAML 1.1 is not one; empty if unknown.
std::string number_hint(const Value& value) {
  const std::string_view digits = unsigned_part(value.text);
  if (value.quoted)
    return !digits.empty() && all_digits(digits.substr(0, 1)) ? "; remove the quotes" : "";
  if (digits.find('_') != std::string_view::npos) return "; write digits without '_'";
  if (digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b"))
    return "; write it in decimal";
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
    return "; leading zeros are refused, YAML reads them as octal";
  if (digits.find(',') != std::string_view::npos) return "; the decimal mark is a point";
  std::string lower(digits);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "nan" || lower == ".nan" || lower == "inf" || lower == ".inf" || lower == "infinity")
    return "; it must be finite";
  return "";
}

// [+-] digits [. digits] [e [+-] digits], no leading zeros: YAML's numbers except octal ones.
bool is_number(std::string_view text) {
  static const std::regex pattern(R"(((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?)");
  const std::string_view digits = unsigned_part(text);
  constexpr std::size_t kLongest = 400;  // std::regex recurses
  return digits.size() <= kLongest && std::regex_match(digits.begin(), digits.end(), pattern);
}

bool within(double x, const Limits& limits) {
  if (limits.low_open ? x <= limits.low : x < limits.low) return false;
  return limits.high_open ? x < limits.high : x <= limits.high;
}

[[noreturn]] void expected(std::string_view what,
                           const Limits& limits,
                           const Value& value,
                           std::string_view hint) {
  const std::string range = limits_text(limits);
  fault("expected {}{}{}, got {}{}", what, range.empty() ? "" : " ", range, value.describe(), hint);
}

}  // namespace

bool to_bool(const Value& value) {
  if (value.is_scalar() && !value.quoted && (value.text == "true" || value.text == "false"))
    return value.text == "true";
  static const std::array<std::string_view, 16> others = {"yes",
                                                          "Yes",
                                                          "YES",
                                                          "no",
                                                          "No",
                                                          "NO",
                                                          "on",
                                                          "On",
                                                          "ON",
                                                          "off",
                                                          "Off",
                                                          "OFF",
                                                          "True",
                                                          "TRUE",
                                                          "False",
                                                          "FALSE"};
  const bool alike = std::find(others.begin(), others.end(), value.text) != others.end();
  expected("true or false",
           {},
           value,
           value.quoted && value.is_scalar() ? "; remove the quotes"
           : alike                           ? "; only true and false are booleans"
                                             : "");
}

Index to_integer(const Value& value, const Limits& limits) {
  const char* const what = "an integer";
  if (!value.is_scalar() || value.quoted)
    expected(what, limits, value, value.is_scalar() ? number_hint(value) : "");
  const std::string_view digits = unsigned_part(value.text);
  if (!all_digits(digits) || (digits.size() > 1 && digits[0] == '0')) {
    std::string hint = number_hint(value);
    if (hint.empty() && is_number(value.text)) hint = "; write it without a point or an exponent";
    expected(what, limits, value, hint);
  }
  const std::string_view text =
      value.text[0] == '+' ? digits : std::string_view(value.text);  // from_chars accepts no plus
  Index result = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), result).ec != std::errc{})
    expected(what, limits, value, "; it does not fit in 64 bits");
  if (!within(static_cast<double>(result), limits)) expected(what, limits, value, "");
  return result;
}

double to_number(const Value& value, const Limits& limits) {
  const char* const what = "a number";
  if (!value.is_scalar() || value.quoted || !is_number(value.text))
    expected(what, limits, value, value.is_scalar() ? number_hint(value) : "");
  const std::string_view text =
      value.text[0] == '+' ? unsigned_part(value.text) : std::string_view(value.text);
  double result = 0;
  const bool read =
      std::from_chars(text.data(), text.data() + text.size(), result).ec == std::errc{};
  const float narrow = static_cast<float>(result);
  if (!read || !std::isfinite(narrow) || (narrow == 0 && result != 0))
    expected(what, limits, value, "; a float holds 1.4e-45 to 3.4e+38");
  if (!within(result, limits)) expected(what, limits, value, "");
  if (!within(widened(narrow), limits))
    expected(what, limits, value, fmt::format("; as a float it is {}", narrow));
  if (limits.single) result = widened(narrow);
  return result == 0 ? 0 : result;  // no negative zero
}

std::string to_text(const Value& value, const Limits& limits) {
  if (!value.is_scalar()) fault("expected a text, got {}", value.describe());
  if (!limits.names.empty() &&
      std::find(limits.names.begin(), limits.names.end(), value.text) == limits.names.end())
    fault("{} is not known here{}", value.describe(), suggestion(value.text, limits.names));
  return value.text;
}

std::string number_text(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string yaml_number(double value) {
  std::string text = number_text(value);
  if (const auto exponent = text.find('e'); exponent != text.npos && text.find('.') == text.npos)
    text.insert(exponent, ".0");
  return text;
}

std::string yaml_text(const std::string& text) {
  static const std::array<std::string_view, 16> words = {
      "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"};
  std::string lower = text;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool bare =
      !text.empty() && (letter(text[0]) || text[0] == '/' || text[0] == '_') &&
      std::all_of(text.begin(),
                  text.end(),
                  [&](char c) {
                    return letter(c) || (c >= '0' && c <= '9') ||
                           std::string_view("/._+-").find(c) != std::string_view::npos;
                  }) &&
      std::find(words.begin(), words.end(), lower) == words.end();
  if (bare) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (c == '\n')
      quoted += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string limits_text(const Limits& limits) {
  if (!limits.names.empty()) return fmt::format("one of {}", fmt::join(limits.names, ", "));
  const bool low = std::isfinite(limits.low);
  const bool high = std::isfinite(limits.high);
  if (low && high)
    return fmt::format("in {}{}, {}{}",
                       limits.low_open ? '(' : '[',
                       limits.low,
                       limits.high,
                       limits.high_open ? ')' : ']');
  if (low) return fmt::format("{} {}", limits.low_open ? ">" : ">=", limits.low);
  if (high) return fmt::format("{} {}", limits.high_open ? "<" : "<=", limits.high);
  return "";
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string to_path(const Value& value, const Limits& limits) {
  const std::string text = to_text(value, limits);
  if (text.empty()) throw ScalarFault("the name of the file is empty");
  const fs::path folder =
      value.where.line > 0 ? fs::path(value.where.file).parent_path() : fs::path();
  std::string path = whole_path(folder / text).string();  // recorded as text
  if (has_control_characters(path) || find_invalid_utf8(path) != path.npos)
    throw ScalarFault(
        fmt::format("the path '{}' holds a control character or a byte that is not UTF-8; rename "
                    "the file or its folder",
                    printable(path, kWhole)));
  return path;
}

}  // namespace softalign
