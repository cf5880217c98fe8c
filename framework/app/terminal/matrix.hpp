// An alignment matrix drawn with characters, its words at its sides.
#pragma once

#include <string>

#include "framework/record/journal/frames.hpp"

namespace softalign::app {

// A row for each target word, a column for each source word, whose letters stand above it; shades
// are weights, dots are known links. Behind each row the source word with the largest weight. Wider
// than `columns` (0: no limit), it is cut into bands of source words.
std::string draw_alignment(const Alignment& alignment, std::size_t columns);

}  // namespace softalign::app
