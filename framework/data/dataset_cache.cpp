#include "framework/data/dataset_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/data/file_hash.hpp"
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

// What may stand in the cache under a key.
struct Kept {
  fs::path place;
  std::string key;
  bool damaged = false;  // something stands there, and it is not what was written

  std::optional<Dataset> open() {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(place, error))) return {};
    std::optional<Dataset> data;
    try {
      data = read_dataset(RegularFile(place).descriptor(), key);
    } catch (const Error&) {  // a folder, a pipe
    }
    damaged = !data;
    return data;
  }
};

// While it lives no other process makes the dataset of this key. The lock is a byte of a file that all keys share, so
// that none is left behind.
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
        return;  // a disk without locks: more than one may make it
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
    DatasetWriter writer(file);
    Dataset described;
    make(described, [&](Split& split, const Example& example) { writer.append(split, example); });
    if (progress) progress("keeping what was read", 0, 0);
    writer.finish(described, kept.key);
  };
  files.write_atomically(kept.place, write, [&](const fs::path& written) {
    data = read_dataset(RegularFile(written).descriptor(), kept.key);
    if (!data) throw DataError("it reads back otherwise");
  });
  if (kept.damaged)
    data->notes.push_back(fmt::format("{}: was damaged; the text was read again",
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
  Kept kept{place_of(*folder, key), key};
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

}  // namespace softalign
