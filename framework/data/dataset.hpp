// Sentences as numbers: what a task delivers and everything downstream reads; how far reading them is, and the buckets of
// their lengths. No files, no tensors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/examples.hpp"
#include "framework/data/text_facts.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

// Where a split's sentences went: read = kept + dropped, truncated ones are kept.
struct SplitCounts {
  Index read = 0;
  Index kept = 0;
  Index dropped_too_long = 0;
  Index dropped_empty = 0;
  Index truncated = 0;

  SplitCounts& operator+=(const SplitCounts& more) {
    read += more.read;
    kept += more.kept;
    dropped_too_long += more.dropped_too_long;
    dropped_empty += more.dropped_empty;
    truncated += more.truncated;
    return *this;
  }
};

// Neighbouring examples of a split, and how often each of them is trained on in an epoch.
struct Portion {
  Index examples = 0;
  double weight = 1;
};

struct Split {
  std::string name;  // "train", "dev", "test"
  Examples examples;
  SplitCounts counts;
  std::vector<Portion> portions = {};  // of all examples, in order; empty: each once
  std::vector<TextFacts> texts = {};   // of its files; empty: it is of none
};

struct Dataset {
  std::shared_ptr<const Vocabulary> source;  // null: sources are frames
  std::shared_ptr<const Vocabulary> target;
  Split train;
  Split dev;
  Split test;
  bool has_links = false;          // the test split's links are known
  double subword_dropout = 0;      // of the training sentences, see resegment.hpp
  std::vector<std::string> notes;  // what people should know about how it was read

  const FrameFormat& frames() const { return train.examples.format(); }
  SourceFormat source_format() const {
    return source ? SourceFormat(source->size()) : SourceFormat(frames());
  }
};

// How the work on data tells how far it is.

// Called now and then, from the thread that does the work: what it does and how far it is, done of
// total (0: unknown). What it throws ends the work.
using Progress = std::function<void(std::string_view what, Index done, Index total)>;

// Source-length buckets for metrics by length: edges {10, 20} give "1-10", "11-20" and "21+". A
// length counts the tokens of the sentence, without </s>.

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
