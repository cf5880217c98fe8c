// How many bytes a batch takes, without a batch of that size: small ones are measured, and carried on.
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

// In bytes: a tape; what was found beside it; packed weights; matrices to be kept.
enum BatchPart : std::size_t { kTape, kFound, kPacks, kKept };
using BatchBytes = std::array<double, 4>;

// Bytes are a polynomial: of first degree in the sentences, of second degree in lengths that grow in proportion.
// It is found from 16 and 32 sentences, and from lengths that double, as some buffers do, for as long as batches
// take less than `exact` bytes: what is no polynomial, such as the arena's rounding, is not carried far. Batches
// that are no polynomial are measured up to sixteen times as many bytes.
class BatchMeter {
 public:
  // Computes one batch of that size; products are skipped meanwhile.
  using Measure = std::function<BatchBytes(const BatchSize&)>;

  explicit BatchMeter(double exact) : exact_(exact) {}
  // key: of what `measure` measures; equal ones are measured once. height: of images, whose source is
  // columns of so many rows, and a mark; else 1.
  BatchBytes at(const std::string& key,
                const BatchSize& wanted,
                Index height,
                const Measure& measure);

 private:
  double exact_;
  std::map<std::pair<std::string, BatchSize>, BatchBytes> measured_;
};

}  // namespace softalign
