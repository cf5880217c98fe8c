#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "framework/base/bytes.hpp"
#include "framework/base/files.hpp"
#include "framework/base/types.hpp"
#include "framework/record/hdf5/hdf5.hpp"

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
  const RegularFile in(file);
  if (in.size() < kSeal) return Seal::absent;
  const std::uint64_t size = in.size() - kSeal;
  std::string seal(kSeal, '\0'), piece(1 << 20, '\0');
  in.read(seal.data(), kSeal, size);
  if (!seal.starts_with(kMagic)) return Seal::absent;
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(usize(std::min<std::uint64_t>(size - at, piece.size())));
    if (in.read(piece.data(), piece.size(), at) < piece.size()) return Seal::broken;
    checksum = crc(checksum, piece);
  }
  return seal == seal_text(size, checksum) ? Seal::whole : Seal::broken;
}

}  // namespace softalign
