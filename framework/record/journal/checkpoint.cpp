#include "framework/record/journal/checkpoint.hpp"

#include <algorithm>
#include <regex>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"

namespace softalign {
namespace {

constexpr std::string_view kCheckpointMagic = "SOFTCKPT";
constexpr std::uint32_t kCheckpointVersion = 1;
constexpr std::size_t kHash = 64;  // hexadecimal digits

}  // namespace

CheckpointMark save_checkpoint(FileSystem& files,
                               const fs::path& folder,
                               Index update,
                               const Blobs& blobs) {
  std::size_t size = 1024;  // reserved, because growth by doubling takes twice the memory
  for (const auto& [name, bytes] : blobs) size += name.size() + bytes.size() + 16;
  ByteWriter out;
  out.reserve(size);
  out.raw(kCheckpointMagic);
  out.number(kCheckpointVersion);
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
  try {
    const RegularFile file(folder / mark.file);
    if (file.size() < kCheckpointMagic.size() + kHash) return std::nullopt;
    std::string content(usize(file.size()) - kHash, '\0'), hash(kHash, '\0');
    if (file.read(hash.data(), kHash, content.size()) < kHash || hash != mark.sha256)
      return std::nullopt;
    content.resize(file.read(content.data(), content.size(), 0));
    if (sha256_hex(content) != mark.sha256) return std::nullopt;
    ByteReader in(content);
    if (in.take(kCheckpointMagic.size()) != kCheckpointMagic ||
        in.number<std::uint32_t>() != kCheckpointVersion)
      return std::nullopt;
    Blobs blobs;
    for (auto n = in.number<std::uint64_t>(); n > 0; --n) {
      std::string name = in.text();
      blobs[std::move(name)] = in.text();
    }
    return blobs;
  } catch (const DataError&) {
    return std::nullopt;  // missing, or with a valid hash but not written by save_checkpoint
  }
}

bool is_checkpoint(const std::string& name) {
  static const std::regex form("upd-[0-9]{8,19}-[0-9a-f]{8}\\.ckpt");
  return std::regex_match(name, form);
}

void remove_other_checkpoints(FileSystem& files,
                              const fs::path& folder,
                              const std::vector<CheckpointMark>& keep) {
  for (const std::string& name : names_in(folder)) {
    const bool kept = std::any_of(
        keep.begin(), keep.end(), [&](const CheckpointMark& mark) { return mark.file == name; });
    std::error_code error;
    if (!kept && is_checkpoint(name) && fs::is_regular_file(folder / name, error))
      files.remove(folder / name);
  }
}

}  // namespace softalign
