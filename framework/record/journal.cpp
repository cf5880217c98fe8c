#include "framework/record/journal.hpp"

#include <fstream>

#include <zlib.h>

#include <limits>

#include "framework/base/error.hpp"
#include "framework/record/bytes.hpp"

namespace softalign {
namespace {

constexpr std::string_view kMagic = "SOFTJRNL";
constexpr std::uint32_t kVersion = 1;
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
  out.raw(kMagic);
  out.number(kVersion);
  out.number(static_cast<std::uint32_t>(body.bytes().size()));
  out.raw(body.bytes());
  return out.bytes();
}

// The bytes of a complete frame at the front of `bytes`, or none.
std::string_view whole_frame(std::string_view bytes, std::uint64_t sequence, std::uint32_t salt) {
  if (bytes.size() < kFrameHead + 4) return {};
  ByteReader in(bytes);
  if (in.number<std::uint32_t>() != kFrameMagic) return {};
  const std::size_t length = in.number<std::uint32_t>();
  if (in.number<std::uint64_t>() != sequence) return {};
  if (length > bytes.size() - kFrameHead - 4) return {};
  const std::string_view covered = bytes.substr(0, kFrameHead + length);
  if (ByteReader(bytes.substr(covered.size())).number<std::uint32_t>() != crc(salt, covered))
    return {};
  return bytes.substr(0, covered.size() + 4);
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
  const std::string bytes = read_file(path_, offset_);
  std::string_view rest = bytes;
  if (!header_) {
    if (rest.substr(0, kMagic.size()) != kMagic.substr(0, rest.size())) {
      if (rest.size() <= kLongestHeader) return {};  // lost by a power cut while it was created
      throw DataError(
          "{}: damaged, or not a softalign journal; move it away and run the spec again with "
          "--force",
          path_.string());
    }
    if (rest.size() < kPrefix) return {};
    ByteReader in(rest.substr(kMagic.size()));
    const auto version = in.number<std::uint32_t>();
    if (version > kVersion) {
      throw DataError(
          "{}: journal version {} is newer than this program's {}: use a newer softalign",
          path_.string(),
          version,
          kVersion);
    }
    const std::size_t size = kPrefix + in.number<std::uint32_t>();
    if (rest.size() < size + 4) return {};
    salt_ = crc(0, rest.substr(0, size));
    if (ByteReader(rest.substr(size)).number<std::uint32_t>() != salt_) return {};
    JournalHeader header;
    header.run_id = in.text();
    header.attempt = in.number<Index>();
    header.started = in.number<double>();
    header_ = header;
    rest.remove_prefix(size + 4);
  }
  std::vector<Frame> frames;
  for (;;) {
    const std::string_view frame = whole_frame(rest, sequence_, salt_);
    if (frame.empty()) break;
    try {
      frames.push_back(decode(static_cast<std::uint8_t>(frame[kFrameHead - 1]),
                              frame.substr(kFrameHead, frame.size() - kFrameHead - 4)));
    } catch (const DataError& e) {
      throw DataError("{}: frame {}: {}", path_.string(), sequence_, e.what());
    }
    rest.remove_prefix(frame.size());
    ++sequence_;
  }
  offset_ += bytes.size() - rest.size();
  return frames;
}

bool begins_as_journal(const std::filesystem::path& journal) {
  std::ifstream file(journal, std::ios::binary);
  std::string head(kMagic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.substr(0, static_cast<std::size_t>(file.gcount())) ==
         kMagic.substr(0, static_cast<std::size_t>(file.gcount()));  // one just begun is empty
}

std::uint64_t cut_torn_end(FileSystem& files, const std::filesystem::path& journal) {
  JournalTail tail(journal);
  tail.next();
  const std::uint64_t size = std::filesystem::file_size(journal);
  if (size > tail.valid_size()) files.truncate(journal, tail.valid_size());
  return size - tail.valid_size();
}

}  // namespace softalign
