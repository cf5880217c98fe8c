#include "framework/data/text_file.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {
constexpr std::size_t kBufferBytes = 1 << 17;
constexpr std::size_t kMaxLineBytes = 1 << 20;  // guards the memory before words are counted
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}  // namespace

void check_line(std::string_view line, const std::string& file, Index number) {
  if (line.find('\0') != std::string_view::npos)
    throw DataError(
        "{}:{}: holds a NUL byte; give text in UTF-8, not UTF-16 or a binary file", file, number);
  if (const std::size_t wrong = find_invalid_utf8(line); wrong != std::string_view::npos)
    throw DataError("{}:{}: byte {} (0x{:02x}) is not UTF-8; convert the file with iconv",
                    file,
                    number,
                    wrong + 1,
                    static_cast<unsigned char>(line[wrong]));
  if (const std::size_t words = split_words(line).size(); words > kMaxLineTokens)
    throw DataError("{}:{}: {} words, more than {}; put one sentence on each line",
                    file,
                    number,
                    words,
                    kMaxLineTokens);
}

TextFile::TextFile(const std::string& path)
    : path_(path), file_(gzopen(path.c_str(), "rb"), [](gzFile_s* file) { gzclose(file); }) {
  if (!file_) throw DataError("{}: cannot be read: {}", path_, std::strerror(errno));
}

bool TextFile::next(std::string& line) {
  line.clear();
  const bool taken = take_line(line);
  if (!taken && number_ == 0) throw DataError("{}: the file is empty", path_);
  if (!taken) return false;
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  check_line(line, path_, number_);
  return true;
}

bool TextFile::take_line(std::string& line) {
  while (!remaining_.empty() || fill()) {
    const std::size_t end = remaining_.find('\n');
    line += remaining_.substr(0, end);
    if (line.size() > kMaxLineBytes)
      throw DataError("{}:{}: longer than {} bytes; put one sentence on each line",
                      path_,
                      number_ + 1,
                      kMaxLineBytes);
    remaining_.remove_prefix(end == std::string_view::npos ? remaining_.size() : end + 1);
    if (end != std::string_view::npos) return true;
  }
  return !line.empty();
}

bool TextFile::fill() {
  buffer_.resize(kBufferBytes);
  const int got = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* what = gzerror(file_.get(), &code);
  if (got == 0 && code == Z_BUF_ERROR)
    throw DataError("{}:{}: the gzip file is cut off here; copy it again", path_, number_ + 1);
  if (got < 0)
    throw DataError("{}:{}: cannot be read from here: {}",
                    path_,
                    number_ + 1,
                    code == Z_ERRNO ? std::strerror(errno) : what);
  remaining_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace softalign
