#include "framework/data/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {
constexpr std::size_t kBufferBytes = 1 << 17;
constexpr std::size_t kMaxLineBytes = 1 << 20;  // limits memory before words are counted
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_stream(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status);
}

constexpr std::string_view kMacLineEnds =
    "old Mac line ends; convert it: tr '\\r' '\\n' < FILE > NEW";

std::string remedy_for_line(std::string_view long_line, std::string_view other) {
  if (long_line.find('\r') != std::string_view::npos) return std::string(kMacLineEnds);
  return fmt::format("put one sentence on each line{}{}", other.empty() ? "" : ", or use ", other);
}

// Returns the offset of the UTF-8 character that contains the byte `at`.
std::size_t beginning_of_character(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// Throws DataError if the beginning of a file or stream shows that it is not plain text.
void refuse_other_formats(std::string_view beginning, const std::string& name) {
  for (const auto& [magic, program] : {std::pair<std::string_view, const char*>{"\x1f\x8b", "gzip"},
                                       {"\xFD"
                                        "7zXZ",
                                        "xz"},
                                       {"\x28\xB5\x2F\xFD", "zstd"},
                                       {"PK\x03\x04", "zip"}})
    if (beginning.starts_with(magic))
      throw DataError("{}: is compressed with {}; unpack it first", name, program);
  constexpr std::string_view kBzip2 = "BZh", kBlock = "1AY&SY";
  if (beginning.starts_with(kBzip2) && beginning.substr(kBzip2.size() + 1).starts_with(kBlock))
    throw DataError("{}: is compressed with bzip2; unpack it first", name);
  if (beginning.starts_with("\x89HDF")) throw DataError("{}: is an HDF5 file, not text", name);
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF"))
    throw DataError("{}: is UTF-16; convert it: iconv -f UTF-16 -t UTF-8", name);
}

}  // namespace

void check_line(std::string_view line,
                const std::string& file,
                Index number,
                bool any_length,
                std::string_view remedy) {
  if (line.find('\0') != std::string_view::npos)
    throw DataError("{}:{}: contains a NUL byte; give text in UTF-8, not UTF-16 or a binary file",
                    file,
                    number);
  if (const std::size_t wrong = find_invalid_utf8(line); wrong != std::string_view::npos)
    throw DataError("{}:{}: byte {} (0x{:02x}) is not UTF-8; convert the file with iconv",
                    file,
                    number,
                    wrong + 1,
                    static_cast<unsigned char>(line[wrong]));
  if (any_length) return;
  if (const std::size_t words = split_words(line).size(); words > kLongestSentence)
    throw DataError("{}:{}: {} words, more than {}; {}",
                    file,
                    number,
                    words,
                    kLongestSentence,
                    remedy_for_line(line, remedy));
}

void check_space_marks(std::string_view line, const std::string& file, Index number) {
  if (line.find(kSpaceMark) != std::string_view::npos)
    throw DataError(
        "{}:{}: contains U+2581 ({}), which stands for a space in vocabularies of sub-words and "
        "characters; give text that is not segmented into sub-words (spm_decode undoes it), or "
        "train with task.vocabulary.type: words",
        file,
        number,
        kSpaceMark);
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (!take_line(line)) {
    if (number_ == 1 && returns_) throw DataError("{}:1: {}", name_, kMacLineEnds);
    return false;
  }
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  if (number_ == 1) returns_ = line.find('\r') != std::string::npos;
  check_line(line, name_, number_, long_lines_ == LongLines::shorten, remedy_);
  return true;
}

bool LineReader::take_line(std::string& line) {
  bool whole = true;
  for (;;) {
    if (remaining_.empty()) {
      buffer_.resize(kBufferBytes);
      remaining_ = std::string_view(buffer_.data(), fill_(buffer_));
      if (remaining_.empty()) return !line.empty();
    }
    const std::size_t end = remaining_.find('\n');
    if (whole) line += remaining_.substr(0, end);
    if (number_ == 0) refuse_other_formats(line, name_);
    if (line.size() > kMaxLineBytes && long_lines_ == LongLines::shorten) {
      line.resize(beginning_of_character(line, kMaxLineBytes));
      whole = false;
    }
    if (line.size() > kMaxLineBytes)
      throw DataError("{}:{}: longer than {} bytes; {}",
                      name_,
                      number_ + 1,
                      kMaxLineBytes,
                      remedy_for_line(line, remedy_));
    remaining_.remove_prefix(end == std::string_view::npos ? remaining_.size() : end + 1);
    if (end != std::string_view::npos) return true;
  }
}

// The bytes of a file. A gzip file is unpacked; it has one or more members, which may be followed by zeros, as on
// tapes.
class TextFile::Bytes {
 public:
  explicit Bytes(const std::string& path) : path_(path) {
    file_ = retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (file_ < 0) throw DataError("{}: cannot be read: {}", path, std::strerror(errno));
    if (inflateInit2(&packer_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Bytes() {
    inflateEnd(&packer_);
    close(file_);
  }
  Bytes(const Bytes&) = delete;

  // Like LineReader::Fill. line: the line that the bytes belong to, for errors.
  std::size_t next(std::span<char> buffer, Index line) {
    while (!begun_ && packed_.size() < kMagic.size() && read_more(line)) {
    }
    if (!begun_) plain_ = !packed_.starts_with(kMagic);
    begun_ = true;
    for (;;) {
      const bool more = holds_more(line);
      if (!more && !inside_) return 0;
      const std::size_t got = plain_ ? take(buffer) : unpack(buffer, line);
      if (got > 0) return got;
      if (!more && inside_)
        throw DataError("{}:{}: the gzip file is truncated here; copy it again", path_, line);
    }
  }

 private:
  static constexpr int kGzip = 15 + 16;  // zlib's windowBits: the largest window, a gzip header
  static constexpr std::string_view kMagic = "\x1f\x8b";

  bool holds_more(Index line) {
    for (;;) {
      if (members_ > 0 && !inside_)
        packed_.remove_prefix(std::min(packed_.find_first_not_of('\0'), packed_.size()));
      if (!packed_.empty()) return true;
      if (!read_more(line)) return false;
    }
  }

  // Appends the next bytes to the unused ones; returns false at the end of the file.
  bool read_more(Index line) {
    std::memmove(buffer_.data(), packed_.data(), packed_.size());
    char* const end = buffer_.data() + packed_.size();
    const ssize_t got = retry([&] { return read(file_, end, kBufferBytes - packed_.size()); });
    if (got < 0)
      throw DataError("{}:{}: cannot be read from here: {}", path_, line, std::strerror(errno));
    packed_ = std::string_view(buffer_.data(), packed_.size() + usize(got));
    return got > 0;
  }

  std::size_t take(std::span<char> buffer) {
    const std::size_t size = packed_.copy(buffer.data(), buffer.size());
    packed_.remove_prefix(size);
    return size;
  }

  std::size_t unpack(std::span<char> buffer, Index line) {
    if (!inside_) {
      if (packed_.front() != kMagic.front())
        throw DataError(
            "{}: the data after the end of the gzip file is not gzip; copy it again, or keep the "
            "part before it: zcat FILE | gzip > NEW",
            path_);
      inflateReset(&packer_);
      inside_ = true;
    }
    packer_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));
    packer_.avail_in = static_cast<uInt>(packed_.size());
    packer_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    packer_.avail_out = static_cast<uInt>(buffer.size());
    const int code = inflate(&packer_, Z_NO_FLUSH);
    packed_.remove_prefix(packed_.size() - packer_.avail_in);
    if (code == Z_STREAM_END) {
      inside_ = false;
      ++members_;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      throw DataError("{}:{}: cannot be read from here: {}",
                      path_,
                      line,
                      packer_.msg ? packer_.msg : zError(code));
    }
    return buffer.size() - packer_.avail_out;
  }

  std::string path_;
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
  std::string_view packed_{buffer_.data(), 0};  // the unused part of the buffer
  int file_;
  z_stream packer_{};
  bool begun_ = false, plain_ = false;
  bool inside_ = false;  // a gzip member
  Index members_ = 0;    // completed gzip members
};

TextFile::TextFile(const std::string& path, Read read)
    : lines_(path,
             [this](std::span<char> buffer) { return bytes_->next(buffer, line_number() + 1); }) {
  if (read == Read::again || !is_stream(path)) demand_regular_file(path);
  bytes_ = std::make_unique<Bytes>(path);
}

TextFile::~TextFile() = default;

bool TextFile::next(std::string& line) {
  const bool more = lines_.next(line);
  if (!more && line_number() == 0) throw DataError("{}: the file is empty", path());
  return more;
}

namespace {

Index count_lines(TextFile& file) {
  std::string line;
  while (file.next(line)) {
  }
  return file.line_number();
}

// Both files have been read to the end of the shorter one.
[[noreturn]] void refuse_lengths(TextFile& a, TextFile& b) {
  const Index lines = count_lines(a);
  throw DataError("{} has {} and {} has {}; line k of one must correspond to line k of the other",
                  a.path(),
                  counted(lines, "line"),
                  b.path(),
                  count_lines(b));
}

}  // namespace

bool Pair::empty() const {
  return split_words(source).empty() || (translated && split_words(target).empty());
}

PairReader::PairReader(const std::string& source,
                       const std::string& target,
                       const std::string& alignment,
                       MarkedSides marked,
                       const std::vector<std::string>& references,
                       const std::string& clusters)
    : source_(source), marked_(marked) {
  if (!target.empty()) target_.emplace(target);
  if (!alignment.empty()) alignment_.emplace(alignment);
  if (!clusters.empty()) clusters_.emplace(clusters);
  for (const std::string& reference : references) references_.emplace_back(reference);
}

bool PairReader::next(Pair& pair) {
  const bool more = source_.next(pair.source);
  pair.translated = target_.has_value();
  if (target_ && target_->next(pair.target) != more) refuse_lengths(source_, *target_);
  if (alignment_ && alignment_->next(links_) != more) refuse_lengths(source_, *alignment_);
  if (clusters_ && clusters_->next(pair.cluster) != more) refuse_lengths(source_, *clusters_);
  pair.line = source_.line_number();
  if (more && marked_.source) check_space_marks(pair.source, source_.path(), pair.line);
  if (more && marked_.target && target_) check_space_marks(pair.target, target_->path(), pair.line);
  pair.references.resize(references_.size());
  for (std::size_t k = 0; k < references_.size(); ++k) {
    TextFile& file = references_[k];
    std::string& line = pair.references[k];
    if (file.next(line) != more) refuse_lengths(source_, file);
    if (more && marked_.target) check_space_marks(line, file.path(), pair.line);
    if (split_words(line).empty()) line.clear();
  }
  if (alignment_ && more)
    pair.links = parse_links(links_,
                             std::ssize(split_words(pair.source)),
                             std::ssize(split_words(pair.target)),
                             alignment_->path(),
                             pair.line);
  return more;
}

}  // namespace softalign
