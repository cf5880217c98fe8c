// Frames as a line of text: their numbers, with spaces between them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/data/examples.hpp"

namespace softalign {

std::string line_of_frames(std::span<const float> frames);

// [T,F]. Throws DataError for a word that is no number, and where the last frame is not complete.
std::vector<float> frames_of_line(std::string_view line, const FrameFormat& format);

}  // namespace softalign
