#include "framework/record/checkpoint.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/record/bytes.hpp"

namespace softalign {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "SOFTCKPT";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHash = 64;  // hexadecimal digits

}  // namespace

CheckpointMark save_checkpoint(FileSystem& files,
                               const fs::path& folder,
                               Index update,
                               const Blobs& blobs) {
  std::size_t size = 1024;  // what grows by doubling holds twice its bytes meanwhile
  for (const auto& [name, bytes] : blobs) size += name.size() + bytes.size() + 16;
  ByteWriter out;
  out.reserve(size);
  out.raw(kMagic);
  out.number(kVersion);
  out.number<std::uint64_t>(blobs.size());
  for (const auto& [name, bytes] : blobs) {
    out.text(name);
    out.text(bytes);
  }
  CheckpointMark mark{.update = update, .file = {}, .sha256 = sha256_hex(out.bytes())};
  mark.file = fmt::format("upd-{:08}-{}.ckpt", update, mark.sha256.substr(0, 8));
  out.raw(mark.sha256);
  files.make_folders(folder);
  files.write_atomically(folder / mark.file, out.bytes());
  return mark;
}

std::optional<Blobs> load_checkpoint(const fs::path& folder, const CheckpointMark& mark) {
  const fs::path path = folder / mark.file;
  if (!fs::is_regular_file(path)) return std::nullopt;
  const std::string bytes = read_file(path);
  if (bytes.size() < kMagic.size() + kHash || !bytes.ends_with(mark.sha256)) return std::nullopt;
  const std::string_view content = std::string_view(bytes).substr(0, bytes.size() - kHash);
  if (sha256_hex(content) != mark.sha256) return std::nullopt;
  ByteReader in(content);
  if (in.take(kMagic.size()) != kMagic) return std::nullopt;
  if (const auto version = in.number<std::uint32_t>(); version != kVersion) {
    throw DataError(
        "{}: checkpoint version {}, this program knows {}", path.string(), version, kVersion);
  }
  Blobs blobs;
  for (auto n = in.number<std::uint64_t>(); n > 0; --n) {
    std::string name = in.text();
    blobs[std::move(name)] = in.text();
  }
  return blobs;
}

void remove_other_checkpoints(FileSystem& files,
                              const fs::path& folder,
                              const std::vector<CheckpointMark>& keep) {
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool kept = std::any_of(
        keep.begin(), keep.end(), [&](const CheckpointMark& mark) { return mark.file == name; });
    if (!kept) others.push_back(entry.path());
  }
  for (const fs::path& path : others) files.remove(path);
}

}  // namespace softalign
