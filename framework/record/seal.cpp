#include "framework/record/seal.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "framework/record/bytes.hpp"
#include "framework/record/file.hpp"

namespace softalign {
namespace {

constexpr std::string_view kMagic = "SOFTSEAL";
constexpr std::size_t kSeal = kMagic.size() + sizeof(std::uint64_t) + sizeof(std::uint32_t);

std::uint32_t crc(std::uint32_t before, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string seal_text(std::uint64_t size, std::uint32_t checksum) {
  ByteWriter out;
  out.raw(kMagic);
  out.number(size);
  out.number(checksum);
  return out.bytes();
}

}  // namespace

std::string sealed(std::string bytes) {
  return bytes.append(seal_text(bytes.size(), crc(0, bytes)));
}

Seal seal_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) throw_unreadable(file, errno);
  const auto size = static_cast<std::uint64_t>(in.tellg());
  if (size < kSeal) return Seal::absent;
  std::string seal(kSeal, '\0');
  in.seekg(-static_cast<std::streamoff>(kSeal), std::ios::end);
  in.read(seal.data(), static_cast<std::streamsize>(kSeal));
  if (!in) throw_unreadable(file, errno);
  if (!seal.starts_with(kMagic)) return Seal::absent;
  in.seekg(0);
  std::string piece(1 << 20, '\0');
  std::uint32_t checksum = 0;
  for (std::uint64_t left = size - kSeal; left > 0;) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
    if (!in.read(piece.data(), static_cast<std::streamsize>(piece.size())))
      throw_unreadable(file, errno);
    checksum = crc(checksum, piece);
    left -= piece.size();
  }
  return seal == seal_text(size - kSeal, checksum) ? Seal::whole : Seal::broken;
}

}  // namespace softalign
