// The cache folder and its content, which can be recreated: datasets, and the SHA-256 of large files that
// seldom change.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "framework/config/options.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// Datasets that are created once: the first request writes a file in the cache folder, later ones
// map it.
//
//   return cached_dataset(identity, [&](Dataset& data, const Emit& emit) {
//     data.source = ...;
//     for (...) emit(data.train, {source, target, links, source_text, target_text});
//   }, progress);
//
// Examples are views into the mapped file, which is checked completely before it is used, and again when its
// metadata have changed (FileStamp); batches are read with pread, because a page fault makes up to 2 MiB around it
// resident. A run holds 8 bytes per training pair: the plan of an epoch (epoch_batches).

// Adds an example, which is copied, to one of the dataset's splits.
using Emit = std::function<void(Split&, const Example&)>;
// Fills a dataset: the splits' names before their first example, the rest in any order; the
// examples by emitting them.
using MakeDataset = std::function<void(Dataset&, const Emit&)>;

// Returns the dataset that `make` creates, from the cache if possible, without calling `make`.
// `identity` names it: this text must contain everything that any bit of the dataset depends on. If
// several processes need it, one creates it while the others wait. A damaged file is recreated; if
// no file can be written, the examples stay in memory (`make` may be called twice), and `notes`
// says so.
Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress);

// Returns whether that dataset is in the cache.
bool is_cached(const std::string& identity);

// The SHA-256 of a file, read unless the file is as it was when it was last read, so that opening a corpus does
// not read it. It is so, as for git's index, when its path, device, inode, size, time of change of content and
// of inode (which no program can set) are the same, to the nanosecond. A file that changed in the last seconds
// before it was read is not remembered: it may change again within one tick of the clock. Throws as
// hash_of_file.
std::string remembered_hash(const InputFile& file);

// The SHA-256 of a file, which is always read; corrects the cached value.
std::string read_hash(const InputFile& file);

// The cache folder, which may be removed at any time: $SOFTALIGN_CACHE, else $XDG_CACHE_HOME/softalign, else
// $HOME/.cache/softalign. Empty, so that nothing is cached, if SOFTALIGN_CACHE is set and empty or none of
// them is set. It need not exist.
std::optional<std::filesystem::path> cache_folder();
// Folders that softalign keeps in the cache; anything else there belongs to others.
inline constexpr const char* kCacheFolders[] = {"datasets", "hashes", "plugins", "runs"};

// Metadata of a file, sufficient to know that it has not changed, as in git's index. Take the stamp before
// reading the file. Times are nanoseconds since 1970: of the last change of the content, and of the inode,
// which programs cannot set. All 0: there is no such file.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;
  bool operator==(const FileStamp&) const = default;

  template <class V>
  void describe(V& v) {
    v("device", device);
    v("inode", inode);
    v("size", size);
    v("modified", modified);
    v("changed", changed);
  }

  // Returns whether it had been left alone for ten seconds at `now`. If not, it may change again within one
  // tick of the file system's clock, and the stamp would not tell.
  bool settled(std::time_t now) const;
};

FileStamp stamp_of(const char* path);

}  // namespace softalign
