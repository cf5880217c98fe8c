// Source-length buckets for metrics by length: edges {10, 20} give "1-10", "11-20" and "21+". A
// length counts the tokens of the sentence, without </s>.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

class LengthBuckets {
 public:
  // `edges` are the longest lengths of all buckets but the last. Throws SpecError unless they rise
  // from 1 or more.
  explicit LengthBuckets(std::vector<Index> edges);

  Index count() const { return std::ssize(edges_) + 1; }
  Index bucket_of(Index length) const;
  std::string label(Index bucket) const;

 private:
  std::vector<Index> edges_;
};

}  // namespace softalign
