// The characters that a spec may hold: what yaml-cpp would misread in silence is refused before it
// sees the text.
#pragma once

#include <string_view>

#include "framework/base/error.hpp"

namespace softalign {

// Throws SpecError at the first byte that is not UTF-8, control character (yaml-cpp takes \4 for
// the end of the file) or tab in an indentation. `start` is the place of the first character;
// without a line it is the place of all.
void check_characters(std::string_view text, const Position& start);

}  // namespace softalign
