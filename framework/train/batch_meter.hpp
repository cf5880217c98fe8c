// Estimates the bytes of a batch without computing it: small batches are measured and extrapolated.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "framework/base/types.hpp"

namespace softalign {

// The size of a batch; lengths include </s>.
struct BatchSize {
  Index sentences = 1;
  Index source = 1;
  Index target = 1;
  auto operator<=>(const BatchSize&) const = default;
};

// Parts of a batch's bytes: a tape; search results outside of it; packed weights; matrices to record.
enum BatchPart : std::size_t { kTape, kFound, kPacks, kKept };
using BatchBytes = std::array<double, 4>;

// Bytes are modelled as a polynomial: of first degree in the number of sentences, of second degree in
// proportionally growing lengths. It is fitted at 16 and 32 sentences, and at lengths that double (as some
// buffers do), while batches take less than `exact` bytes, so that deviations such as the arena's rounding are
// not extrapolated far. Batches that do not follow a polynomial are measured up to 16 * `exact` bytes.
class BatchMeter {
 public:
  // Computes one batch of that size, during which matrix products are skipped.
  using Measure = std::function<BatchBytes(const BatchSize&)>;

  explicit BatchMeter(double exact) : exact_(exact) {}
  // key: identifies the quantity that `measure` measures; equal keys are measured once. height: rows of an
  // image, whose source is columns of pixels and an end mark; 1 for other sources.
  BatchBytes at(const std::string& key,
                const BatchSize& wanted,
                Index height,
                const Measure& measure);

 private:
  double exact_;
  std::map<std::pair<std::string, BatchSize>, BatchBytes> measured_;
};

}  // namespace softalign
