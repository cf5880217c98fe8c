// Sentences as numbers: what a task delivers and everything downstream reads. No files, no tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/examples.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// Where a split's sentences went: read = kept + dropped, truncated ones are kept.
struct SplitCounts {
  Index read = 0;
  Index kept = 0;
  Index dropped_too_long = 0;
  Index dropped_empty = 0;
  Index truncated = 0;
};

struct Split {
  std::string name;  // "train", "dev", "test"
  Examples examples;
  SplitCounts counts;
};

struct Dataset {
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;
  Split train;
  Split dev;
  Split test;
  bool has_links = false;          // the test split's links are known
  std::vector<std::string> notes;  // what people should know about how it was read
};

}  // namespace softalign
