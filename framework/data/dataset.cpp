#include "framework/data/dataset.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {

LengthBuckets::LengthBuckets(std::vector<Index> edges) : edges_(std::move(edges)) {
  Index previous = 0;
  for (const Index edge : edges_) {
    if (edge <= previous)
      throw SpecError("edge {} after {}; the edges must rise, from 1 or more", edge, previous);
    previous = edge;
  }
}

Index LengthBuckets::bucket_of(Index length) const {
  return std::lower_bound(edges_.begin(), edges_.end(), length) - edges_.begin();
}

std::string LengthBuckets::label(Index bucket) const {
  const auto place = usize(bucket);
  const Index first = bucket == 0 ? 1 : edges_.at(place - 1) + 1;
  if (place == edges_.size()) return fmt::format("{}+", first);
  const Index last = edges_.at(place);
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

}  // namespace softalign
