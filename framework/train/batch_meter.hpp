// Estimates the bytes that a batch takes, without a batch of that size: small batches are measured and extrapolated.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "framework/base/types.hpp"

namespace softalign {

// A batch, with </s>.
struct BatchSize {
  Index sentences = 1;
  Index source = 1;
  Index target = 1;
  auto operator<=>(const BatchSize&) const = default;
};

// In bytes: a tape; search results outside of it; packed weights; matrices to keep.
enum BatchPart : std::size_t { kTape, kFound, kPacks, kKept };
using BatchBytes = std::array<double, 4>;

// Bytes are modelled as a polynomial: of first degree in the number of sentences, of second degree in
// proportionally growing lengths. It is fitted at 16 and 32 sentences, and at lengths that double (as some
// buffers do), while batches take less than `exact` bytes, so that deviations such as the arena's rounding are
// not extrapolated far. Batches that do not follow a polynomial are measured up to sixteen times as many bytes.
class BatchMeter {
 public:
  // Computes one batch of that size; products are skipped meanwhile.
  using Measure = std::function<BatchBytes(const BatchSize&)>;

  explicit BatchMeter(double exact) : exact_(exact) {}
  // key: identifies what `measure` measures; equal keys are measured once. height: for images, whose
  // source is columns of this many rows and an end mark; else 1.
  BatchBytes at(const std::string& key,
                const BatchSize& wanted,
                Index height,
                const Measure& measure);

 private:
  double exact_;
  std::map<std::pair<std::string, BatchSize>, BatchBytes> measured_;
};

}  // namespace softalign
