#include "framework/data/text_file.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "framework/base/bounds.hpp"
#include "framework/base/error.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {
constexpr std::size_t kBufferBytes = 1 << 17;
constexpr std::size_t kMaxLineBytes = 1 << 20;  // guards the memory before words are counted
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_stream(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status);
}

// Reads what is not compressed as it is.
gzFile open_gzip(const std::string& path, TextFile::Read read) {
  if (read == TextFile::Read::again || !is_stream(path)) demand_regular_file(path);
  const gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw DataError("{}: cannot be read: {}", path, std::strerror(errno));
  return file;
}

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
  if (const std::size_t words = split_words(line).size(); words > kLongestSentence)
    throw DataError("{}:{}: {} words, more than {}; put one sentence on each line",
                    file,
                    number,
                    words,
                    kLongestSentence);
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (!take_line(line)) return false;
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  check_line(line, name_, number_);
  return true;
}

bool LineReader::take_line(std::string& line) {
  for (;;) {
    if (remaining_.empty()) {
      buffer_.resize(kBufferBytes);
      remaining_ = std::string_view(buffer_.data(), fill_(buffer_));
      if (remaining_.empty()) return !line.empty();
    }
    const std::size_t end = remaining_.find('\n');
    line += remaining_.substr(0, end);
    if (line.size() > kMaxLineBytes)
      throw DataError("{}:{}: longer than {} bytes; put one sentence on each line",
                      name_,
                      number_ + 1,
                      kMaxLineBytes);
    remaining_.remove_prefix(end == std::string_view::npos ? remaining_.size() : end + 1);
    if (end != std::string_view::npos) return true;
  }
}

TextFile::TextFile(const std::string& path, Read read)
    : file_(open_gzip(path, read), [](gzFile_s* file) { gzclose(file); }),
      lines_(path, [this](std::span<char> buffer) { return fill(buffer); }) {}

bool TextFile::next(std::string& line) {
  const bool taken = lines_.next(line);
  if (!taken && line_number() == 0) throw DataError("{}: the file is empty", path());
  return taken;
}

std::size_t TextFile::fill(std::span<char> buffer) {
  const int got = gzread(file_.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
  int code = Z_OK;
  const char* what = gzerror(file_.get(), &code);
  if (got == 0 && code == Z_BUF_ERROR)
    throw DataError(
        "{}:{}: the gzip file is cut off here; copy it again", path(), line_number() + 1);
  if (got < 0)
    throw DataError("{}:{}: cannot be read from here: {}",
                    path(),
                    line_number() + 1,
                    code == Z_ERRNO ? std::strerror(errno) : what);
  return static_cast<std::size_t>(got);
}

}  // namespace softalign
