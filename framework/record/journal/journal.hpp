// The append-only journal of one attempt: a header and checksummed frames. A reader gets the
// longest valid prefix; an incomplete or damaged end is not an error and is never used.
//
//   header: "SOFTJRNL" u32 version, u32 length, run id, attempt, start time, u32 crc32
//   frame:  u32 magic, u32 payload length, u64 sequence number, u8 kind, payload, u32 crc32
//
// All little-endian. The CRC-32 (zlib's) of a frame covers the whole frame and begins with the
// header's, so that a frame of another journal, which a disk may return, is not accepted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

// A file of a newer softalign, which is intact, but cannot be read by this version.
struct NewerFormat : MachineError {
  using MachineError::MachineError;
};

struct JournalHeader {
  std::string run_id;
  Index attempt = 0;
  double started = 0;  // Unix time, seconds
};

class JournalWriter {
 public:
  // Creates the file and its header, which is on disk when the constructor returns. Throws MachineError if
  // the file exists.
  JournalWriter(FileSystem& files, const std::filesystem::path& path, const JournalHeader& header);
  // When this returns, a kill of the process loses nothing; after sync() neither does a power cut.
  void append(const Frame& frame);
  void sync() { file_.sync(); }

 private:
  File file_;
  std::uint32_t salt_;
  std::uint64_t sequence_ = 0;
};

// Reads a journal that may still grow: each call returns the frames completed since the last one.
class JournalTail {
 public:
  explicit JournalTail(std::filesystem::path path) : path_(std::move(path)) {}
  // Throws DataError if the file is not a journal, NewerFormat if it is one of a newer version.
  std::vector<Frame> next();
  const std::optional<JournalHeader>& header() const { return header_; }
  std::uint64_t valid_size() const { return offset_; }  // bytes up to the first invalid one

 private:
  std::filesystem::path path_;
  std::optional<JournalHeader> header_;
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t salt_ = 0;
};

// Returns whether a file begins like a journal, which is faster than reading it.
bool begins_as_journal(const std::filesystem::path& journal);

// Truncates a journal of this run to its valid prefix; files without a header of this run are not
// changed. Returns the number of removed bytes when the prefix is on disk.
std::uint64_t cut_torn_end(FileSystem& files,
                           const std::filesystem::path& journal,
                           const std::string& run_id);

}  // namespace softalign
