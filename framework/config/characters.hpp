// The characters that a spec may hold: what yaml-cpp would misread in silence is refused before it
// sees the text.
#pragma once

#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace softalign {

// Throws SpecError at the first byte that is not UTF-8, control character (yaml-cpp takes \4 for
// the end of the file), tab in an indentation of block style (JSON may have them) or carriage return alone where
// there is no other line end. `start` is the place of the first character;
// without a line it is the place of all.
void check_characters(std::string_view text, const Position& start);

// What is odd about a text that stands where something else is expected, as a hint behind it: " (no blank
// behind its colon; write b: 2)"; a character that only looks like a blank; mostly nothing.
std::string slip_in(std::string_view text);

}  // namespace softalign
