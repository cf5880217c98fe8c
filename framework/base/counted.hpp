// A number with its noun: "1 line", "2 lines".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>

namespace softalign {

// The plural is the noun with an s.
std::string counted(std::integral auto count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "1,203,411"; of what is not negative.
inline std::string with_commas(long long number) {
  std::string text = fmt::format("{}", number);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(text.begin() + at, ',');
  return text;
}

}  // namespace softalign
