#include "framework/data/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/record/file.hpp"

namespace softalign {
namespace {

Dataset in_memory(const MakeDataset& make) {
  Dataset data;
  make(data, [](Split& split, const Example& example) { split.examples.append(example); });
  return data;
}

fs::path place_of(const fs::path& folder, const std::string& key) {
  return folder / "datasets" / key;
}

constexpr std::size_t kHash = 64;

// A text with the path of a file and its stamp; empty if there is no such file.
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

// Returns the note that the cache stores about a file: its state, its hash, and a hash of both.
std::string note_of(const State& state, const std::string& hash) {
  const std::string text = state.text + hash + "\n";
  return text + sha256_hex(text) + "\n";
}

// Returns the note, or "" if the file is missing or not a regular file.
std::string read_note(const fs::path& place) {
  constexpr std::uint64_t kLargest = 1 << 16;
  try {
    return read_file(place, kLargest);
  } catch (const Error&) {
    return {};
  }
}

fs::path note_place(const fs::path& folder, const fs::path& file) {
  return folder / "hashes" / sha256_hex(file.string());
}

// Writes a note; errors are ignored, because a missing note only costs time.
void remember(const fs::path& place, const std::string& note) {
  try {
    FileSystem::real().make_folders(place.parent_path());
    FileSystem::real().write_atomically(place, note);
  } catch (const MachineError&) {
  }
}

// The cached file of a key. A note records that its bytes were verified, so that a file of many gigabytes is not
// read at every start.
struct Kept {
  fs::path folder;  // the cache's
  std::string key;
  fs::path place = place_of(folder, key);
  bool damaged = false;  // the file exists, but has changed since it was written

  std::optional<Dataset> open() {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(place, error))) return {};
    std::optional<Dataset> data;
    try {
      const State state = state_of(place);
      const bool whole = read_note(note_place(folder, place)) == note_of(state, key);
      data = read_dataset(RegularFile(place).descriptor(), key, whole);
      if (data && !whole && state.settled) remember(note_place(folder, place), note_of(state, key));
    } catch (const Error&) {  // a folder, a pipe
    }
    damaged = !data;
    return data;
  }

  // Writes the note of a file that was just written and read back. Waits until a later change would be noticed,
  // because reading many gigabytes again takes minutes; small files get no note, as they are quickly read again.
  void remember_whole() const {
    constexpr std::uintmax_t kMany = 1 << 30;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(place, error);
    if (error || size < kMany) return;
    State state = state_of(place);
    for (; !state.settled && !state.text.empty(); state = state_of(place))
      std::this_thread::sleep_for(std::chrono::seconds(1));
    remember(note_place(folder, place), note_of(state, key));
  }
};

// While this lock exists, no other process creates the dataset of its key. It locks one byte of a file that all keys
// share, so that no lock files are left behind.
class MakerLock {
 public:
  MakerLock(const fs::path& folder, const std::string& key, const Progress& progress) {
    const fs::path path = folder / "lock";
    file_ =
        retry([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); });
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(std::stoull(key.substr(0, 15), nullptr, 16));
    range.l_len = 1;
    const std::string waiting =
        fmt::format("waiting for another process that reads the same text ({})",
                    printable(path.string(), kWhole));
    while (file_ >= 0 && retry([&] { return fcntl(file_, F_OFD_SETLK, &range); }) != 0) {
      if (errno != EAGAIN && errno != EACCES)
        return;  // a disk without locks: several processes may create the dataset
      waited_ = true;
      if (progress) progress(waiting, 0, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ~MakerLock() {
    if (file_ >= 0) close(file_);
  }
  MakerLock(const MakerLock&) = delete;
  MakerLock& operator=(const MakerLock&) = delete;

  bool waited() const { return waited_; }

 private:
  int file_ = -1;
  bool waited_ = false;
};

void remove_abandoned(const fs::path& folder) {
  for (const std::string& name : names_in(folder))
    if (temporary(folder / name) == Temporary::abandoned) FileSystem::real().remove(folder / name);
}

Dataset through_file(const fs::path& folder,
                     Kept& kept,
                     const MakeDataset& make,
                     const Progress& progress) {
  if (std::optional<Dataset> data = kept.open()) return std::move(*data);
  FileSystem& files = FileSystem::real();
  files.make_folders(kept.place.parent_path());
  const MakerLock lock(folder, kept.key, progress);
  if (lock.waited())
    if (std::optional<Dataset> data = kept.open()) return std::move(*data);
  remove_abandoned(kept.place.parent_path());
  std::optional<Dataset> data;
  const auto write = [&](File& file) {
    DatasetWriter writer(file, kept.place.parent_path());
    Dataset described;
    make(described, [&](Split& split, const Example& example) { writer.append(split, example); });
    if (progress) progress("writing the cache", 0, 0);
    writer.finish(described, kept.key);
  };
  files.write_atomically(kept.place, write, [&](const fs::path& written) {
    data = read_dataset(RegularFile(written).descriptor(), kept.key);
    if (!data) throw DataError("it does not read back as written");
  });
  kept.remember_whole();
  if (kept.damaged)
    data->notes.push_back(
        fmt::format("{}: was corrupt, or written by another version; the text was read again",
                    printable(kept.place.string(), kWhole)));
  return std::move(*data);
}

}  // namespace

bool is_cached(const std::string& identity) {
  const std::optional<fs::path> folder = cache_folder();
  return folder && is_there(place_of(*folder, sha256_hex(identity)));
}

Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress) {
  const std::optional<fs::path> folder = cache_folder();
  if (!folder) return in_memory(make);
  const std::string key = sha256_hex(identity);
  Kept kept{*folder, key};
  std::string reason;
  try {
    return through_file(*folder, kept, make, progress);
  } catch (const MachineError& error) {
    reason = error.what();
  }
  Dataset data = in_memory(make);
  data.notes.push_back(fmt::format(
      "the tokenised text is held in memory: {}; SOFTALIGN_CACHE names another folder", reason));
  return data;
}

namespace {

std::string hash(const InputFile& file, bool believe) {
  const auto folder = cache_folder();
  std::error_code error;
  const fs::path path = fs::absolute(file.path, error);
  const State before = state_of(path);
  if (!folder || error || before.text.empty()) return hash_of_file(file);
  const fs::path place = note_place(*folder, path);
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
  if (caches && *caches == '/') return fs::path(caches) / "softalign";  // must be absolute (XDG)
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fs::path(home) / ".cache/softalign";
  return std::nullopt;
}

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// The minimum age of a file's last change: more than the coarsest clock of a file system (FAT: 2
// s), and a margin for servers whose clock is slow.
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
