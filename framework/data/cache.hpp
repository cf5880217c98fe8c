// The cache folder, whose content can always be recreated: datasets, and SHA-256 hashes of large files that
// rarely change.
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

// Datasets are created once: the first request writes a file in the cache folder, later requests map it.
//
//   return cached_dataset(identity, [&](Dataset& data, const Emit& emit) {
//     data.source = ...;
//     for (...) emit(data.train, {source, target, links, source_text, target_text});
//   }, progress);
//
// Examples are views of the mapped file. The whole file is checked before its first use, and again when its
// metadata have changed (FileStamp). Batches are read with pread, because a page fault would make up to 2 MiB
// around it resident. A run needs 8 bytes per training pair: the plan of an epoch (epoch_batches).

// Copies an example into one of the dataset's splits.
using Emit = std::function<void(Split&, const Example&)>;
// Fills a dataset and emits its examples. A split's name must be set before its first example is emitted; all
// other members may be set in any order.
using MakeDataset = std::function<void(Dataset&, const Emit&)>;

// Returns the dataset that `make` creates; if it is in the cache, `make` is not called. `identity` is its
// key: this text must contain everything that any bit of the dataset depends on. If several processes
// need the dataset, one creates it while the others wait. A corrupt file is recreated. If no file can be
// written, the examples stay in memory (`make` may be called twice), and a note says so.
Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress);

// Returns whether the dataset of this identity is in the cache.
bool is_cached(const std::string& identity);

// Returns the SHA-256 of a file, from the cache if the file has not changed, so that opening a corpus need not
// read it. As in git's index, a file has not changed if its path and its stamp (FileStamp) are the same. The hash
// of a file that changed in the last seconds before it was read is not cached: the file may change again within
// one tick of the clock. Throws the errors of hash_of_file.
std::string remembered_hash(const InputFile& file);

// Reads a file and returns its SHA-256; corrects the cached value.
std::string read_hash(const InputFile& file);

// Returns the cache folder, which need not exist and may be removed at any time: $SOFTALIGN_CACHE, else
// $XDG_CACHE_HOME/softalign, else $HOME/.cache/softalign. Returns nullopt, so that nothing is cached, if
// SOFTALIGN_CACHE is empty or none of these variables is set.
std::optional<std::filesystem::path> cache_folder();
// The folders that softalign creates in the cache; it does not touch anything else there.
inline constexpr const char* kCacheFolders[] = {"datasets", "hashes", "plugins", "runs"};

// Metadata that show whether a file has changed, as in git's index. Take the stamp before reading the file.
// `modified` and `changed` are the times of the last change of the content and of the inode, in nanoseconds since
// 1970; programs cannot set the latter. All members are 0 if the file does not exist.
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

  // Returns whether the file had not changed for ten seconds at `now`. Otherwise it may change again within one
  // tick of the file system's clock, which would not change the stamp.
  bool settled(std::time_t now) const;
};

FileStamp stamp_of(const char* path);

}  // namespace softalign
