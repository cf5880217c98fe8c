#include "framework/data/frames.hpp"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/data/text.hpp"

namespace softalign {

std::string line_of_frames(std::span<const float> frames) {
  return fmt::format("{}", fmt::join(frames, " "));
}

std::vector<float> frames_of_line(std::string_view line, const FrameFormat& format) {
  std::vector<float> frames;
  for (const std::string_view word : split_words(line)) {
    float number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number))
      throw DataError("'{}' is not a number; a source of this model is frames of {} numbers each",
                      printable(word),
                      format.size);
    frames.push_back(number);
  }
  if (std::ssize(frames) % format.size != 0)
    throw DataError("{} numbers are no whole frames of {}", frames.size(), format.size);
  return frames;
}

}  // namespace softalign
