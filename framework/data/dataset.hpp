// Sentences as numbers: what a task delivers and everything downstream reads. No files, no tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// A known word link, positions from 0 in the tokens of the example; sure or merely possible.
struct Link {
  Index source = 0;
  Index target = 0;
  bool sure = true;
};

// One sentence pair. Neither side holds sentence marks: batches add </s> to both.
struct Example {
  std::vector<Token> source;
  std::vector<Token> target;
  std::vector<Link> links;  // empty: unknown
  std::string source_text;  // the words as read, for people; metrics of text use target_text
  std::string target_text;
};

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
  std::vector<Example> examples;
  SplitCounts counts;
};

// A file that was read, for the record and the identity.
struct DataFile {
  std::string role;  // "train.source"
  std::string path;
  std::string sha256;
};

struct Dataset {
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;
  Split train;
  Split dev;
  Split test;
  bool has_links = false;  // the test split's links are known
};

}  // namespace softalign
