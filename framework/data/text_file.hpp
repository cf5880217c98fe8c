// Text files, plain or gzip, line by line, and what a line of text may be.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "framework/base/types.hpp"

struct gzFile_s;  // zlib's

namespace softalign {

// A longer "sentence" is a file without line ends or not text at all.
inline constexpr Index kMaxLineTokens = 10000;

// Throws DataError `file:line: ...` when the line holds a NUL, is not UTF-8, or has more than
// kMaxLineTokens words.
void check_line(std::string_view line, const std::string& file, Index number);

// Reads from the first line to the last. Every fault is a DataError with file and line: a missing,
// unreadable or empty file, a damaged or cut-off gzip, and whatever check_line refuses.
class TextFile {
 public:
  explicit TextFile(const std::string& path);

  // The next line without its end (LF or CRLF) and without a byte order mark; false after the last.
  bool next(std::string& line);

  const std::string& path() const { return path_; }
  Index line_number() const { return number_; }  // of the line read last, from 1

 private:
  bool take_line(std::string& line);
  bool fill();

  std::string path_;
  std::unique_ptr<gzFile_s, void (*)(gzFile_s*)> file_;
  std::string buffer_;          // what was read and not yet taken
  std::string_view remaining_;  // the part of it still to take
  Index number_ = 0;
};

}  // namespace softalign
