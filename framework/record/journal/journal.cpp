#include "framework/record/journal/journal.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

constexpr std::string_view kJournalMagic = "SOFTJRNL";
constexpr std::uint32_t kJournalVersion = 1;
constexpr std::uint32_t kFrameMagic = 0x4d524653;  // "SFRM"
constexpr std::size_t kFrameHead = 4 + 4 + 8 + 1;
constexpr std::size_t kPrefix = 8 + 4 + 4;  // magic, version, length
constexpr std::size_t kLongestHeader = 512;

std::uint32_t crc(std::uint32_t start, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string header_bytes(const JournalHeader& header) {
  ByteWriter body;
  body.text(header.run_id);
  body.number(header.attempt);
  body.number(header.started);
  ByteWriter out;
  out.raw(kJournalMagic);
  out.number(kJournalVersion);
  out.number(static_cast<std::uint32_t>(body.bytes().size()));
  out.raw(body.bytes());
  return out.bytes();
}

// The bytes of a file from an offset on, read on demand, so that the announced size of a sparse
// file allocates no memory.
class Window {
 public:
  Window(const RegularFile& file, std::uint64_t at) : file_(file), at_(at) {}

  // Returns the next `size` bytes, fewer at the end of the file. Valid until the next call.
  std::string_view look(std::uint64_t size) {
    constexpr std::uint64_t kPiece = 1 << 20;
    if (size > bytes_.size() - begin_ && at_ + bytes_.size() - begin_ < file_.size()) {
      bytes_.erase(0, begin_);
      begin_ = 0;
      const std::uint64_t rest = file_.size() - at_;
      const std::size_t had = bytes_.size();
      bytes_.resize(usize(std::min(std::max(size, kPiece), rest)));
      bytes_.resize(had + file_.read(bytes_.data() + had, bytes_.size() - had, at_ + had));
    }
    return std::string_view(bytes_).substr(begin_, usize(size));
  }
  void pass(std::size_t size) {
    begin_ += size;
    at_ += size;
  }
  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return file_.size() > at_ ? file_.size() - at_ : 0; }

 private:
  const RegularFile& file_;
  std::uint64_t at_;  // offset of the next byte, which is at begin_
  std::string bytes_;
  std::size_t begin_ = 0;
};

// Returns the bytes of the next frame if it is complete, else nothing.
std::string_view whole_frame(Window& file, std::uint64_t sequence, std::uint32_t salt) {
  ByteReader in(file.look(kFrameHead));
  if (in.left() < kFrameHead || in.number<std::uint32_t>() != kFrameMagic) return {};
  const std::size_t size = kFrameHead + in.number<std::uint32_t>() + 4;
  if (in.number<std::uint64_t>() != sequence || size > file.left()) return {};
  const std::string_view frame = file.look(size);
  if (frame.size() < size) return {};
  const std::string_view covered = frame.substr(0, size - 4);
  const auto sum = ByteReader(frame.substr(covered.size())).number<std::uint32_t>();
  return sum == crc(salt, covered) ? frame : std::string_view();
}

// Returns nothing while the header is incomplete, or if a power cut has lost it. Throws DataError for files
// that are not intact journals.
std::optional<JournalHeader> read_header(Window& file,
                                         std::uint32_t& salt,
                                         const std::filesystem::path& path) {
  const std::string_view bytes = file.look(kLongestHeader);
  const auto none = [&]() -> std::optional<JournalHeader> {
    if (file.left() <= kLongestHeader) return std::nullopt;
    throw DataError(
        "{}: damaged, or not a softalign journal; move it away and run the spec again with --force",
        path.string());
  };
  if (bytes.size() < kPrefix || !bytes.starts_with(kJournalMagic)) return none();
  ByteReader in(bytes.substr(kJournalMagic.size()));
  if (const auto version = in.number<std::uint32_t>(); version > kJournalVersion)
    throw NewerFormat(
        "{}: journal version {} is newer than this program's {}: use a newer softalign",
        path.string(),
        version,
        kJournalVersion);
  const std::size_t size = kPrefix + in.number<std::uint32_t>();
  if (bytes.size() < size + 4) return none();
  salt = crc(0, bytes.substr(0, size));
  if (ByteReader(bytes.substr(size)).number<std::uint32_t>() != salt) return none();
  JournalHeader header;
  try {
    header.run_id = in.text();
    header.attempt = in.number<Index>();
    header.started = in.number<double>();
  } catch (const DataError&) {
    return none();
  }
  if (!is_text(header.run_id))
    throw DataError("{}: its run ID is not text; move it away and run the spec again with --force",
                    path.string());
  file.pass(size + 4);
  return header;
}

}  // namespace

JournalWriter::JournalWriter(FileSystem& files,
                             const std::filesystem::path& path,
                             const JournalHeader& header)
    : file_(files, path) {
  ByteWriter out;
  out.raw(header_bytes(header));
  salt_ = crc(0, out.bytes());
  out.number(salt_);
  file_.append(out.bytes());
  file_.sync();
  files.sync_folder(path.parent_path());
}

void JournalWriter::append(const Frame& frame) {
  const std::string payload = encode(frame);
  if (payload.size() > std::numeric_limits<std::uint32_t>::max())
    throw MachineError("a journal frame of {} bytes is too large: at most 4 GiB", payload.size());
  ByteWriter out;
  out.number(kFrameMagic);
  out.number(static_cast<std::uint32_t>(payload.size()));
  out.number(sequence_);
  out.number(kind_of(frame));
  out.raw(payload);
  out.number(crc(salt_, out.bytes()));
  file_.append(out.bytes());
  ++sequence_;
}

std::vector<Frame> JournalTail::next() {
  const RegularFile journal(path_);
  Window file(journal, offset_);
  if (!header_) header_ = read_header(file, salt_, path_);
  std::vector<Frame> frames;
  while (header_) {
    const std::string_view frame = whole_frame(file, sequence_, salt_);
    if (frame.empty()) break;
    try {
      frames.push_back(decode(static_cast<std::uint8_t>(frame[kFrameHead - 1]),
                              frame.substr(kFrameHead, frame.size() - kFrameHead - 4)));
    } catch (const DataError& e) {
      throw DataError(
          "{}: frame {} is invalid: {}; move it away and run the spec again with --force",
          path_.string(),
          sequence_,
          e.what());
    }
    file.pass(frame.size());
    ++sequence_;
  }
  offset_ = file.at();
  return frames;
}

bool begins_as_journal(const std::filesystem::path& journal) {
  try {
    const RegularFile file(journal);
    std::string head(kJournalMagic.size(), '\0');
    head.resize(file.read(head.data(), head.size(), 0));
    return head == kJournalMagic.substr(0, head.size());  // a new journal is empty
  } catch (const DataError&) {
    return false;
  }
}

std::uint64_t cut_torn_end(FileSystem& files,
                           const std::filesystem::path& journal,
                           const std::string& run_id) {
  JournalTail tail(journal);
  tail.next();
  if (!tail.header() || tail.header()->run_id != run_id) return 0;
  const std::uint64_t size = std::filesystem::file_size(journal);
  files.truncate(journal, tail.valid_size());  // also syncs the prefix
  return size - tail.valid_size();
}

}  // namespace softalign
