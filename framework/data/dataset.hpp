// Sentences as numbers: examples, and the dataset that a task delivers and everything downstream reads;
// progress of reading, and length buckets. No files, no tensors.
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

// A known word link, positions from 0 in the tokens of the example; sure or merely possible.
struct Link {
  Index source = 0;
  Index target = 0;
  bool sure = true;
};

// The format of sources that are not symbols: frames, each of `size` numbers. Those of an image are its pixels,
// column by column, each column of `height` from the top; others follow each other in time.
struct FrameFormat {
  Index size = 0;  // F; 0: sources are symbols
  Index height = 1;
  float most = 0;  // the largest number, where the least is 0; 0: not known

  explicit operator bool() const { return size > 0; }
  bool operator==(const FrameFormat&) const = default;
  template <class V>
  void describe(V& v) {
    v("frame_size", size);
    v("frame_height", height);
    v("frame_most", most);
  }
};

// Mean and standard deviation of each number of a frame over the training sources, by which every source is
// normalised: (x - mean) / deviation. Empty: sources are not normalised.
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
  Index symbols = 0;  // of the vocabulary, with the specials
  FrameFormat frames = {};
  std::shared_ptr<const Copies> copies = {};  // null: a copy has the same index

  SourceFormat(Index of_symbols) : symbols(of_symbols) {}  // implicit
  SourceFormat(const Vocabulary& source, const std::shared_ptr<const Vocabulary>& target)
      : symbols(source.size()), copies(std::make_shared<Copies>(source, target)) {}
  SourceFormat(const FrameFormat& of_frames) : frames(of_frames) {}
};

// The format of a model's targets.
struct TargetFormat {
  Index symbols = 0;  // of the vocabulary, with the specials
  // [symbols]: the numbers that the symbols are as text, 0 for the specials; empty: not all symbols are numbers.
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
  Index line = 0;                      // of its file, from 1; 0: of no file
  std::span<const float> frames = {};  // [T,F], row-major
};

// The offset of an example and the sizes of its parts; 32 bytes, in memory as in a file.
struct ExampleRow {
  std::uint64_t at = 0;      // its first byte, a multiple of 8
  std::uint32_t source = 0;  // symbols, or frames
  std::uint32_t target = 0;
  std::uint32_t links = 0;
  std::uint32_t source_text = 0;
  std::uint32_t target_text = 0;
  std::uint32_t line = 0;

  Index length() const { return Index{source} + Index{target}; }
};

// Appends the example's bytes, a multiple of 8 of them. The row counts from the beginning of
// `bytes`, whose size must be a multiple of 8.
ExampleRow pack(const Example& example, const FrameFormat& format, std::vector<std::byte>& bytes);
Example unpack(const ExampleRow& row, const FrameFormat& format, const std::byte* bytes);
// Bytes of the source's symbols or frames.
std::uint64_t source_bytes(const ExampleRow& row, const FrameFormat& format);

// Sentence pairs laid end to end, in memory or in a mapped file, with random access. Handed out are views, so a
// corpus of millions is read without being resident; they stay valid as long as this, and its address, stay as
// they are.
class Examples {
 public:
  Examples() = default;  // none; append adds some, in memory
  explicit Examples(const FrameFormat& format) : format_(format) {}
  // The examples of a mapped file, whose rows are at offset `rows_at`, a multiple of 8.
  Examples(std::shared_ptr<const MappedFile> file,
           std::size_t rows_at,
           std::size_t count,
           const FrameFormat& format = {});

  const FrameFormat& format() const { return format_; }  // of the sources

  void append(const Example& example);            // copies it; only in memory
  bool held() const { return file_ == nullptr; }  // in memory, not in a mapped file

  std::size_t size() const { return rows().size(); }
  bool empty() const { return rows().empty(); }
  Example operator[](std::size_t i) const { return unpack(rows()[i], format_, bytes()); }

  // The rows alone: lengths without the pages that hold the sentences.
  std::span<const ExampleRow> rows() const { return file_ ? file_rows_ : rows_; }

  // For random access to a large corpus: copies by read instead of the mapping, which would make up
  // to 2 MiB around each access resident. Both throw BugError beyond the last example, and
  // MachineError if the disk fails.
  ExampleRow row(std::size_t i) const;
  // The source's tokens, unless it is frames, then the target's.
  void read_tokens(const ExampleRow& row, std::vector<Token>& tokens) const;
  void read_frames(const ExampleRow& row, float* frames) const;  // [T,F]

  // Returns pages of a mapped file to the system; they are read again on access, and views stay
  // valid. To be called regularly when reading many examples, from any thread.
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

// Calls `add` with the arrays of frames of a split, in the same order each time.
using EachArray = std::function<void(const std::function<void(std::span<const float>)>& add)>;

// The statistics of arrays whose frames have `size` numbers: the mean m = sum(x) / n of each number over all n frames
// and, if `deviations`, d = sqrt(sum((x - m)^2) / n), or else 1, as also where d is at most 1e-7 |m|, a number that
// does not vary. Sums are in double precision, in the order of the frames; `each` is called twice.
FrameStatistics statistics_of(Index size, bool deviations, const EachArray& each);

// Eight digits of a hash of the numbers, by which people and `compare` tell arrays apart.
std::string fingerprint(std::span<const float> frames);

// Frames as a line of text: their numbers, with spaces between them.
std::string line_of_frames(std::span<const float> frames);

// Normalises [T,F] in place. Throws DataError for numbers that are not finite, before or after that, and for an
// incomplete last frame.
void normalise_frames(std::span<float> frames,
                      const FrameFormat& format,
                      const FrameStatistics& statistics);

// [T,F]. Throws DataError for a word that is not a number, and for an incomplete last frame.
std::vector<float> frames_of_line(std::string_view line, const FrameFormat& format);

// Counts of a split's sentences: read = kept + dropped, truncated ones are kept.
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
  std::vector<TextFacts> texts = {};   // of its files; empty: no files
  // Of each example its further references, as many for each: lines of files, "" where one is blank.
  // Empty: the target is the only reference.
  std::vector<std::vector<std::string>> references = {};
  // [examples]: sentences of one number are not independent of each other; empty: all are.
  std::vector<Index> clusters = {};
};

struct Dataset {
  std::shared_ptr<const Vocabulary> source;  // null: sources are frames
  std::shared_ptr<const Vocabulary> target;
  Split train;
  Split dev;
  Split test;
  bool has_links = false;           // the test split's links are known
  double subword_dropout = 0;       // of the training sentences, see resegmented()
  FrameStatistics statistics = {};  // by which the frames have been normalised
  std::vector<std::string> notes;   // remarks for the user about how it was read

  const FrameFormat& frames() const { return train.examples.format(); }
  SourceFormat source_format() const {
    return source ? SourceFormat(*source, target) : SourceFormat(frames());
  }
  TargetFormat target_format() const { return TargetFormat(*target); }
};

// Receives the progress of work on data: called regularly on the working thread, with a description, done and
// total (0: unknown). Exceptions end the work.
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
