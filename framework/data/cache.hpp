// The cache folder and what is kept there, which can be made again: datasets, and the SHA-256 of files that are
// large and seldom change.
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

// Datasets that are made once and kept: the first who asks makes a file in the cache folder, every
// later one maps it.
//
//   return cached_dataset(identity, [&](Dataset& data, const Emit& emit) {
//     data.source = ...;
//     for (...) emit(data.train, {source, target, links, source_text, target_text});
//   }, progress);
//
// Examples are views into the mapped file, which is checked whole at every opening; batches are read
// with pread, because one page fault makes up to 2 MiB around it resident. A run holds 8 bytes a
// training pair (the plan of an epoch; 20 while it is made), a first run 32 until the file is written.

// Adds an example, which is copied, to one of the dataset's splits.
using Emit = std::function<void(Split&, const Example&)>;
// Fills a dataset: the splits' names before their first example, the rest in any order; the
// examples by emitting them.
using MakeDataset = std::function<void(Dataset&, const Emit&)>;

// The dataset that `make` makes, from the cache where it is there: then nothing of `make` is done.
// `identity` names it: everything that any bit of it depends on must be in this text. Of processes
// that ask at once one makes it while the others wait. A damaged file is made again; where no file
// can be kept, the examples stay in memory (`make` may be called twice). `notes` says so.
Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress);

// Returns whether that dataset lies in the cache.
bool is_cached(const std::string& identity);

// The SHA-256 of a file, read unless the file is as it was when it was last read, so that opening a corpus does
// not read it. It is so, as for git's index, when its path, device, inode, size, time of change of content and
// of inode (which no program can set) are the same, to the nanosecond. A file that changed in the last seconds
// before it was read is not remembered: it may change again within one tick of the clock. Throws as
// hash_of_file.
std::string remembered_hash(const InputFile& file);

// The SHA-256 of a file, always read; what was remembered is corrected.
std::string read_hash(const InputFile& file);

// The folder of things that can be made again; all of it may be removed at any time: $SOFTALIGN_CACHE, or else
// $XDG_CACHE_HOME/softalign, or else $HOME/.cache/softalign. Nothing when SOFTALIGN_CACHE is set and empty, or
// when none of them is set: then nothing is kept. It need not exist.
std::optional<std::filesystem::path> cache_folder();

// The system's facts of a file, without reading it: enough to know that it is as it was, as git's index knows
// it. Whoever remembers what was read in a file keeps the stamp that it had before. Times are nanoseconds since
// 1970: of the last change of the content, and of the inode, which no program can set. All 0: there is no such
// file.
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
