// Reads text line by line, from plain or gzip files or other byte sources, and checks the lines;
// reads sentence pairs with their word links from parallel files.
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

// Throws DataError `file:number: ...` if the line contains a NUL, is not UTF-8, or has more than
// kLongestSentence words (unless any_length). remedy: an alternative to one sentence per line, for the message.
void check_line(std::string_view line,
                const std::string& file,
                Index number,
                bool any_length = false,
                std::string_view remedy = {});

// Throws DataError `file:number: ...` if the line contains U+2581, which vocabularies that mark spaces with it
// (Vocabulary::marks_spaces) would read as a space.
void check_space_marks(std::string_view line, const std::string& file, Index number);

// Splits a stream of bytes into lines, in bounded memory:
//
//   LineReader lines("standard input", [](std::span<char> buffer) {
//     return usize(std::max<ssize_t>(0, read(0, buffer.data(), buffer.size())));
//   });
class LineReader {
 public:
  // Writes the next available bytes into a buffer and returns how many; 0 at the end.
  using Fill = std::function<std::size_t(std::span<char> buffer)>;

  // Treatment of lines that are too long for check_line. shorten: allow any number of words, and cut lines after a
  // MiB.
  enum class LongLines { refuse, shorten };

  // name: of the file, in messages. remedy: as in check_line.
  LineReader(std::string name,
             Fill fill,
             LongLines long_lines = LongLines::refuse,
             std::string_view remedy = {})
      : name_(std::move(name)), fill_(std::move(fill)), long_lines_(long_lines), remedy_(remedy) {}

  // Reads the next line, without its end (LF or CRLF) and without a byte order mark; returns false after
  // the last. Throws DataError `name:line: ...` for more than a MiB without a line end (the rest is not read),
  // for lines that check_line refuses, for compressed text and UTF-16, and for a single line with
  // carriage returns.
  bool next(std::string& line);

  const std::string& name() const { return name_; }
  Index line_number() const { return number_; }  // of the line read last, from 1
  // Returns whether unused bytes are in the buffer, so that `next` need not wait for the first byte.
  bool holds_more() const { return !remaining_.empty(); }

 private:
  bool take_line(std::string& line);

  std::string name_;
  Fill fill_;
  LongLines long_lines_;
  std::string remedy_;
  std::string buffer_;          // bytes read but not yet returned
  std::string_view remaining_;  // the unused part of buffer_
  Index number_ = 0;
  bool returns_ = false;  // the first line has carriage returns
};

// A plain or gzip text file. Throws DataError with file and line if the file is missing, unreadable, empty, or
// not regular (a pipe or device) unless it is read only once; if a gzip file is corrupt, truncated or followed by
// other data; and for lines that LineReader refuses.
class TextFile {
 public:
  enum class Read { again, once };
  explicit TextFile(const std::string& path, Read read = Read::again);
  ~TextFile();
  TextFile(const TextFile&) = delete;  // lines_ has a pointer to this object

  // Like LineReader::next.
  bool next(std::string& line);

  const std::string& path() const { return lines_.name(); }
  Index line_number() const { return lines_.line_number(); }

 private:
  class Bytes;

  std::unique_ptr<Bytes> bytes_;
  LineReader lines_;
};

// A sentence pair as read; links are between words.
struct Pair {
  std::string source;
  std::string target;
  std::vector<std::string> references;  // additional ones; "" for a blank line
  std::vector<Link> links;
  std::string cluster;
  Index line = 0;
  bool translated = true;  // false: there are no targets

  bool empty() const;  // a side has no words
};

// The sides whose vocabulary marks spaces (Vocabulary::marks_spaces).
struct MarkedSides {
  bool source = false;
  bool target = false;
};

// Reads sentence pairs from files with matching lines: sources and, if given, targets, word links, additional
// references and clusters.
class PairReader {
 public:
  // The strings are paths, empty for missing files. Throws DataError for files that cannot be read.
  PairReader(const std::string& source,
             const std::string& target,
             const std::string& alignment,
             MarkedSides marked,
             const std::vector<std::string>& references = {},
             const std::string& clusters = "");

  // Reads the next pair; returns false after the last. Throws DataError if the files have different numbers of
  // lines, a line of a marked side contains space marks, or links are invalid.
  bool next(Pair& pair);

 private:
  TextFile source_;
  std::optional<TextFile> target_;
  std::optional<TextFile> alignment_;
  std::optional<TextFile> clusters_;
  std::deque<TextFile> references_;  // a deque, because files cannot be moved
  MarkedSides marked_;
  std::string links_;
};

}  // namespace softalign
