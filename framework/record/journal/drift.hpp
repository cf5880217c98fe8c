// The resume drift check: what a resumed run computes again must have the bits that the interrupted
// attempt had.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/record/journal/frames.hpp"

namespace softalign {

// Paths that may differ between two runs of one experiment: /provenance, /timing, /system, wall
// times and rates.
bool is_volatile(std::string_view path);

class DriftCheck {
 public:
  explicit DriftCheck(const std::vector<Frame>& superseded);
  // Compares a recomputed frame with the superseded one, where there is one.
  void look(const Frame& frame);
  // "train/loss at update 512 is 3.25, an earlier attempt had 3.5"
  const std::optional<std::string>& first_difference() const { return difference_; }

 private:
  std::map<std::string, std::string> expected_;  // what and when, to its bytes
  std::optional<std::string> difference_;
};

}  // namespace softalign
