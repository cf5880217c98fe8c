// Sentences as numbers: examples, the dataset that a task delivers and everything downstream reads, the progress
// of reading, and length buckets. No files, no tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/copies.hpp"
#include "framework/data/text_facts.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

class MappedFile;

// A known word link, sure or merely possible. Positions count the tokens of the example from 0.
struct Link {
  Index source = 0;
  Index target = 0;
  bool sure = true;
};

// The format of sources that are sequences of frames instead of symbols; a frame has `size` numbers. The frames
// of an image are its pixels, column by column, each column with `height` pixels from the top; other frames are
// in temporal order.
struct FrameFormat {
  Index size = 0;  // F; 0: sources are symbols
  Index height = 1;
  float most = 0;  // the largest number, if the smallest is 0; 0: unknown

  explicit operator bool() const { return size > 0; }
  bool operator==(const FrameFormat&) const = default;
  template <class V>
  void describe(V& v) {
    v("frame_size", size);
    v("frame_height", height);
    v("frame_most", most);
  }
};

// Mean and standard deviation of each number of a frame over the training sources. All sources are normalised
// with them: (x - mean) / deviation. Empty: sources are not normalised.
struct FrameStatistics {
  std::vector<double> mean = {};
  std::vector<double> deviation = {};

  explicit operator bool() const { return !mean.empty(); }
  bool operator==(const FrameStatistics&) const = default;
  template <class V>
  void describe(V& v) {
    v("mean", mean);
    v("deviation", deviation);
  }
};

// The format of a model's sources.
struct SourceFormat {
  Index symbols = 0;  // size of the vocabulary, including the specials
  FrameFormat frames = {};
  std::shared_ptr<const Copies> copies = {};  // null: a copy has the same index

  SourceFormat(Index of_symbols) : symbols(of_symbols) {}  // implicit
  SourceFormat(const Vocabulary& source, const std::shared_ptr<const Vocabulary>& target)
      : symbols(source.size()), copies(std::make_shared<Copies>(source, target)) {}
  SourceFormat(const FrameFormat& of_frames) : frames(of_frames) {}
};

// The format of a model's targets.
struct TargetFormat {
  Index symbols = 0;  // size of the vocabulary, including the specials
  // [symbols]: the number that each symbol's text denotes, 0 for the specials; empty: some symbol is not a number.
  std::vector<double> values = {};
  std::string not_a_number = {};  // the first symbol that is not a number

  TargetFormat(Index of_symbols);  // implicit; for sizes alone, with values 0, 1, 2, ...
  explicit TargetFormat(const Vocabulary& target);
};

// A view of one sentence pair. Neither side has sentence marks: batches add </s> to symbols. A
// source is either symbols or frames.
struct Example {
  std::span<const Token> source = {};
  std::span<const Token> target = {};
  std::span<const Link> links = {};   // empty: unknown
  std::string_view source_text = {};  // the words as read, for people; metrics use target_text
  std::string_view target_text = {};
  Index line = 0;                      // line number in its file, from 1; 0: not from a file
  std::span<const float> frames = {};  // [T,F], row-major
};

// The offset of an example and the sizes of its parts; 32 bytes, in memory as in a file.
struct ExampleRow {
  std::uint64_t at = 0;      // offset of its first byte, a multiple of 8
  std::uint32_t source = 0;  // symbols, or frames
  std::uint32_t target = 0;
  std::uint32_t links = 0;
  std::uint32_t source_text = 0;
  std::uint32_t target_text = 0;
  std::uint32_t line = 0;

  Index length() const { return Index{source} + Index{target}; }
};

// Appends the example to `bytes`, padded to a multiple of 8 bytes. The offset in the returned row counts from
// the beginning of `bytes`, whose size must be a multiple of 8.
ExampleRow pack(const Example& example, const FrameFormat& format, std::vector<std::byte>& bytes);
Example unpack(const ExampleRow& row, const FrameFormat& format, const std::byte* bytes);
// Returns the number of bytes of the source's symbols or frames.
std::uint64_t source_bytes(const ExampleRow& row, const FrameFormat& format);

// Sentence pairs stored one after the other, in memory or in a mapped file, with random access. Examples are
// views, so a corpus of millions can be read without being resident. Views stay valid until this object is moved,
// changed or destroyed.
class Examples {
 public:
  Examples() = default;  // empty; `append` adds examples, in memory
  explicit Examples(const FrameFormat& format) : format_(format) {}
  // The examples of a mapped file, whose rows are at offset `rows_at`, a multiple of 8.
  Examples(std::shared_ptr<const MappedFile> file,
           std::size_t rows_at,
           std::size_t count,
           const FrameFormat& format = {});

  const FrameFormat& format() const { return format_; }  // of the sources

  void append(const Example& example);            // copies the example; only in memory
  bool held() const { return file_ == nullptr; }  // in memory, not in a mapped file

  std::size_t size() const { return rows().size(); }
  bool empty() const { return rows().empty(); }
  Example operator[](std::size_t i) const { return unpack(rows()[i], format_, bytes()); }

  // The rows contain the lengths, so reading them does not load the pages of the sentences.
  std::span<const ExampleRow> rows() const { return file_ ? file_rows_ : rows_; }

  // For random access to a large corpus: these functions read the file instead of using the mapping, which
  // would make up to 2 MiB around each access resident. They throw MachineError if the disk fails.
  ExampleRow row(std::size_t i) const;  // throws BugError beyond the last example
  // Reads the tokens of the source, unless it consists of frames, followed by the tokens of the target.
  void read_tokens(const ExampleRow& row, std::vector<Token>& tokens) const;
  void read_frames(const ExampleRow& row, float* frames) const;  // [T,F]

  // Returns pages of a mapped file to the system; they are read again on access, and views stay valid.
  // Call it regularly, from any thread, when reading many examples.
  void release() const;

  class Iterator {
   public:
    Iterator(const Examples* examples, std::size_t i) : examples_(examples), i_(i) {}
    Example operator*() const { return (*examples_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Examples* examples_;
    std::size_t i_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  const std::byte* bytes() const;
  void read(const std::byte* from, std::size_t size, void* to) const;

  FrameFormat format_;
  std::vector<ExampleRow> rows_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<const MappedFile> file_;
  std::span<const ExampleRow> file_rows_;
};

// Calls `add` with each array of frames of a split, in the same order each time.
using EachArray = std::function<void(const std::function<void(std::span<const float>)>& add)>;

// Returns the statistics of arrays whose frames have `size` numbers: for each number its mean m = sum(x) / n over all n
// frames and, if `deviations`, its deviation d = sqrt(sum((x - m)^2) / n). The deviation is 1 without `deviations`, and
// for constant numbers (d at most 1e-7 |m|). Sums are in double precision, in the order of the frames; `each` is called
// once, or twice if `deviations`.
FrameStatistics statistics_of(Index size, bool deviations, const EachArray& each);

// Returns eight digits of a hash of the numbers, which identify the array for people and `compare`.
std::string fingerprint(std::span<const float> frames);

// Returns the numbers of the frames as a line of text, separated by spaces.
std::string line_of_frames(std::span<const float> frames);

// Normalises [T,F] in place. Throws DataError for numbers that are not finite, before or after normalisation, and
// for an incomplete last frame.
void normalise_frames(std::span<float> frames,
                      const FrameFormat& format,
                      const FrameStatistics& statistics);

// Reads frames [T,F] from a line of text. Throws DataError for a word that is not a number, and for an incomplete
// last frame.
std::vector<float> frames_of_line(std::string_view line, const FrameFormat& format);

// Sentence counts of a split: read = kept + dropped; truncated sentences count as kept.
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

// A contiguous range of a split's examples, and how often an epoch trains on each of them.
struct Portion {
  Index examples = 0;
  double weight = 1;
};

struct Split {
  std::string name;  // "train", "dev", "test"
  Examples examples;
  SplitCounts counts;
  std::vector<Portion> portions = {};  // cover all examples, in order; empty: each once
  std::vector<TextFacts> texts = {};   // one per file; empty: no files
  // [examples]: the additional references of each, equally many per example: lines of files, "" for blank lines.
  // Empty: the target is the only reference.
  std::vector<std::vector<std::string>> references = {};
  // [examples]: the cluster of each; sentences of one cluster are not independent. Empty: all are independent.
  std::vector<Index> clusters = {};
};

struct Dataset {
  std::shared_ptr<const Vocabulary> source;  // null: sources are frames
  std::shared_ptr<const Vocabulary> target;
  Split train;
  Split dev;
  Split test;
  bool has_links = false;           // the test split's links are known
  double subword_dropout = 0;       // for the training sentences, see resegmented()
  FrameStatistics statistics = {};  // with which the frames were normalised
  std::vector<std::string> notes;   // remarks for the user about reading the dataset

  const FrameFormat& frames() const { return train.examples.format(); }
  SourceFormat source_format() const {
    return source ? SourceFormat(*source, target) : SourceFormat(frames());
  }
  TargetFormat target_format() const { return TargetFormat(*target); }
};

// Receives the progress of work on data. Called regularly on the working thread, with a description, the amount
// done and the total (0: unknown). An exception aborts the work.
using Progress = std::function<void(std::string_view what, Index done, Index total)>;

// Source-length buckets for metrics by length: edges {10, 20} give "1-10", "11-20" and "21+". A
// length is the number of tokens of the sentence, without </s>.
class LengthBuckets {
 public:
  // edges: the largest length of each bucket but the last. Throws SpecError unless they increase, from 1 or more.
  explicit LengthBuckets(std::vector<Index> edges);

  Index count() const { return std::ssize(edges_) + 1; }
  Index bucket_of(Index length) const;
  std::string label(Index bucket) const;

 private:
  std::vector<Index> edges_;
};

}  // namespace softalign
