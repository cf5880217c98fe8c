// A number with its noun: "1 line", "2 lines".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace softalign {

// The plural is the noun with an s.
std::string counted(std::integral auto count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace softalign
