#include "framework/app/input_lines.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/data/text_file.hpp"

namespace softalign::app {
namespace {

constexpr const char* kName = "standard input";
constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::size_t kMaxLineBytes = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool InputLines::next(std::string& line) {
  line.clear();
  bool ended = false;
  while (!ended && (!remaining_.empty() || fill())) {
    const std::size_t end = remaining_.find('\n');
    ended = end != std::string_view::npos;
    line += remaining_.substr(0, end);
    if (line.size() > kMaxLineBytes)
      throw DataError("{}:{}: longer than {} bytes; put one sentence on each line",
                      kName,
                      number_ + 1,
                      kMaxLineBytes);
    remaining_.remove_prefix(ended ? end + 1 : remaining_.size());
  }
  if (!ended && line.empty()) return false;
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  check_line(line, kName, number_);
  return true;
}

bool InputLines::waits() const {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return !remaining_.empty() || poll(&input, 1, 0) > 0;
}

bool InputLines::fill() {
  buffer_.resize(kBufferBytes);
  ssize_t got = 0;
  do got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0)
    throw DataError(
        "{}: cannot be read: {}; give text, as in < source.txt", kName, std::strerror(errno));
  remaining_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace softalign::app
