#include "framework/data/file_hash.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/file.hpp"

namespace softalign {
namespace {

constexpr std::size_t kHash = 64;

// Which state of which file; empty when there is none.
struct State {
  std::string text;
  bool settled = false;
};

State state_of(const fs::path& path) {
  const FileStamp stamp = stamp_of(path.c_str());
  if (stamp == FileStamp{}) return {};
  return {fmt::format("softalign-hash 2\n{}\ndevice {} inode {} size {} modified {} changed {}\n",
                      path.string(),
                      stamp.device,
                      stamp.inode,
                      stamp.size,
                      stamp.modified,
                      stamp.changed),
          stamp.settled(std::time(nullptr))};
}

// What is remembered of a file: its state and its hash, and a hash of both.
std::string note_of(const State& state, const std::string& hash) {
  const std::string text = state.text + hash + "\n";
  return text + sha256_hex(text) + "\n";
}

// Empty where there is none, and for whatever else stands there.
std::string read_note(const fs::path& place) {
  constexpr std::uint64_t kLargest = 1 << 16;
  try {
    return read_file(place, kLargest);
  } catch (const Error&) {
    return {};
  }
}

// Without a note all is well, only slower.
void remember(const fs::path& place, const std::string& note) {
  try {
    FileSystem::real().make_folders(place.parent_path());
    FileSystem::real().write_atomically(place, note);
  } catch (const MachineError&) {
  }
}

std::string hash(const InputFile& file, bool believe) {
  const auto folder = cache_folder();
  std::error_code error;
  const fs::path path = fs::absolute(file.path, error);
  const State before = state_of(path);
  if (!folder || error || before.text.empty()) return hash_of_file(file);
  const fs::path place = *folder / "hashes" / sha256_hex(path.string());
  const std::string note = read_note(place);
  if (believe && note.size() == before.text.size() + 2 * (kHash + 1)) {
    const std::string remembered = note.substr(before.text.size(), kHash);
    if (note == note_of(before, remembered)) return remembered;
  }
  const std::string found = hash_of_file(file);
  const State after = state_of(path);
  if (before.settled && after.text == before.text) {
    if (note != note_of(before, found)) remember(place, note_of(before, found));
  } else if (!note.empty()) {
    fs::remove(place, error);
  }
  return found;
}

}  // namespace

std::string remembered_hash(const InputFile& file) { return hash(file, true); }

std::string read_hash(const InputFile& file) { return hash(file, false); }

std::optional<std::filesystem::path> cache_folder() {
  if (const char* own = std::getenv("SOFTALIGN_CACHE")) {
    if (*own == '\0') return std::nullopt;
    return fs::absolute(own);
  }
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches && *caches == '/') return fs::path(caches) / "softalign";  // the rest is not valid
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fs::path(home) / ".cache/softalign";
  return std::nullopt;
}

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// How long ago a file must have changed. More than the coarsest clock of a file system (FAT: 2 s);
// the rest is for a server whose clock is behind ours.
constexpr std::int64_t kSettled = 10;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

}  // namespace

bool FileStamp::settled(std::time_t now) const {
  return std::max(modified, changed) / kSecond + kSettled <= now;
}

FileStamp stamp_of(const char* path) {
  struct stat info {};
  if (stat(path, &info) != 0) return {};
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = nanoseconds(info.st_mtim),
          .changed = nanoseconds(info.st_ctim)};
}

}  // namespace softalign
