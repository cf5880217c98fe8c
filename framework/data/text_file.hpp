// Reads text line by line, from plain or gzip files or other sources of bytes, and checks lines;
// reads sentence pairs from parallel files, with their word links.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/links.hpp"

namespace softalign {

// Throws DataError `file:line: ...` if the line contains a NUL, is not UTF-8, or has more than
// kLongestSentence words, unless it may be longer. remedy: what else than a sentence on each line may help.
void check_line(std::string_view line,
                const std::string& file,
                Index number,
                bool any_length = false,
                std::string_view remedy = {});

// Throws DataError `file:line: ...` when the line holds U+2581, which vocabularies that mark spaces with it
// (Vocabulary::marks_spaces) would read as a space.
void check_space_marks(std::string_view line, const std::string& file, Index number);

// Cuts bytes into lines, from the first to the last, in bounded memory:
//
//   LineReader lines("standard input", [](std::span<char> buffer) {
//     return usize(std::max<ssize_t>(0, read(0, buffer.data(), buffer.size())));
//   });
class LineReader {
 public:
  // Puts the bytes that come next into a buffer, as many as there are now, and says how many; 0:
  // the end.
  using Fill = std::function<std::size_t(std::span<char> buffer)>;

  // Lines that are longer than check_line allows. shorten: they have any number of words, and end after a MiB.
  enum class LongLines { refuse, shorten };

  // `name` is the file's name in messages, `remedy` as in check_line.
  LineReader(std::string name,
             Fill fill,
             LongLines long_lines = LongLines::refuse,
             std::string_view remedy = {})
      : name_(std::move(name)), fill_(std::move(fill)), long_lines_(long_lines), remedy_(remedy) {}

  // The next line without its end (LF or CRLF) and without a byte order mark; false after the last.
  // Throws DataError `name:line: ...` for more than a MiB without a line end (the rest is not read),
  // for lines that check_line refuses, for compressed text and UTF-16, and for a single line with
  // carriage returns.
  bool next(std::string& line);

  const std::string& name() const { return name_; }
  Index line_number() const { return number_; }  // of the line read last, from 1
  // Returns whether bytes have been read that no line has taken yet: next need not wait for the first.
  bool holds_more() const { return !remaining_.empty(); }

 private:
  bool take_line(std::string& line);

  std::string name_;
  Fill fill_;
  LongLines long_lines_;
  std::string remedy_;
  std::string buffer_;          // bytes read but not yet returned
  std::string_view remaining_;  // the part of it still to take
  Index number_ = 0;
  bool returns_ = false;  // carriage returns in the first line
};

// A file, plain or gzip. Every fault is a DataError with file and line: one that is missing,
// unreadable, empty, no regular file (a pipe, a device) unless it is to be read only once, a gzip that is
// damaged, cut off or followed by something else, and what LineReader refuses.
class TextFile {
 public:
  enum class Read { again, once };
  explicit TextFile(const std::string& path, Read read = Read::again);
  ~TextFile();
  TextFile(const TextFile&) = delete;  // lines_ reads through this one

  // Like LineReader::next.
  bool next(std::string& line);

  const std::string& path() const { return lines_.name(); }
  Index line_number() const { return lines_.line_number(); }

 private:
  class Bytes;

  std::unique_ptr<Bytes> bytes_;
  LineReader lines_;
};

// A pair as read; links are between words.
struct Pair {
  std::string source;
  std::string target;
  std::vector<std::string> references;  // further ones; "" for a blank line
  std::vector<Link> links;
  std::string cluster;
  Index line = 0;
  bool translated = true;  // false: there are no targets

  bool empty() const;  // without a word on a side
};

// The sides whose vocabulary marks spaces itself (Vocabulary::marks_spaces).
struct MarkedSides {
  bool source = false;
  bool target = false;
};

// Reads sentence pairs from files whose lines match: sources, and where they are known targets, word links,
// further references and clusters.
class PairReader {
 public:
  // Paths; empty for missing files. Throws DataError for files that cannot be read.
  PairReader(const std::string& source,
             const std::string& target,
             const std::string& alignment,
             MarkedSides marked,
             const std::vector<std::string>& references = {},
             const std::string& clusters = "");

  // false: all pairs have been read. Throws DataError when the files have different numbers of lines, a line
  // of a marked side holds space marks, or links are invalid.
  bool next(Pair& pair);

 private:
  TextFile source_;
  std::optional<TextFile> target_;
  std::optional<TextFile> alignment_;
  std::optional<TextFile> clusters_;
  std::deque<TextFile> references_;  // which cannot be moved
  MarkedSides marked_;
  std::string links_;
};

}  // namespace softalign
