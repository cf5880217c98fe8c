// A journal in the recorder's format, with arbitrary frames.
#pragma once

#include <zlib.h>

#include "framework/base/bytes.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace softalign::fuzz {

struct JournalFile {
  std::string bytes;
  std::vector<std::size_t> ends;  // of the header, then of each frame
  std::vector<std::pair<std::uint8_t, std::string>> frames;
  bool good_header = false;  // false: unknown
};

// The rest of an input: the header (u16 length, bytes; nothing: a good one), then frames (u8 kind, u16
// length, payload). All checksums are right.
inline JournalFile journal_file(Input& in) {
  const auto crc = [](std::uint32_t start, const std::string& bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  };
  ByteWriter body, out;
  const std::string given = in.text();
  if (given.empty()) {
    body.text("0123456789abcdef");
    body.number<Index>(1);
    body.number<double>(1.5e9);
  } else {
    body.raw(given);
  }
  out.raw("SOFTJRNL");
  out.number<std::uint32_t>(1);
  out.number(static_cast<std::uint32_t>(body.bytes().size()));
  out.raw(body.bytes());
  const std::uint32_t salt = crc(0, out.bytes());
  out.number(salt);
  JournalFile file{out.bytes(), {out.bytes().size()}, {}, given.empty()};
  while (!in.empty()) {
    const auto kind = in.number<std::uint8_t>();
    const std::string payload = in.text();
    ByteWriter frame;
    frame.raw("SFRM");
    frame.number(static_cast<std::uint32_t>(payload.size()));
    frame.number<std::uint64_t>(file.frames.size());
    frame.number(kind);
    frame.raw(payload);
    frame.number(crc(salt, frame.bytes()));
    file.bytes += frame.bytes();
    file.ends.push_back(file.bytes.size());
    file.frames.emplace_back(kind, payload);
  }
  return file;
}

}  // namespace softalign::fuzz
