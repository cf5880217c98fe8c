// The cache folder, and what is remembered there of the SHA-256 of files that are large and seldom change: with size,
// times and inode, as git's index does, so that opening a corpus does not read it.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "framework/config/options.hpp"

namespace softalign {

// The hash of the bytes, read unless the file is as it was when they were last read. That is
// believed when its path, device, inode, size, time of change of content and of inode (which no
// program can set) are the same, to the nanosecond. A file that changed in the last seconds before
// it was read is not remembered: it may change again within one tick of the clock. Throws as
// hash_of_file.
std::string remembered_hash(const InputFile& file);

// The same, always read; what was remembered is corrected.
std::string read_hash(const InputFile& file);

// Where things are kept that can be made again: tokenised text, hashes of files. All of it may be
// removed at any time.

// $SOFTALIGN_CACHE, or else $XDG_CACHE_HOME/softalign, or else $HOME/.cache/softalign. Nothing when
// SOFTALIGN_CACHE is set and empty, or when none of them is set: then nothing is kept. It need not
// exist.
std::optional<std::filesystem::path> cache_folder();

// What the system says of a file without reading it: enough to know that it is as it was, as git's
// index knows it. Whoever remembers what he read in a file keeps the stamp that it had before.

// Times are nanoseconds since 1970: of the last change of the content, and of the inode, which no
// program can set. All 0: there is no such file.
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

  // Whether it had been left alone for ten seconds at `now`. If not, it may change again within one
  // tick of the file system's clock, and the stamp would not tell.
  bool settled(std::time_t now) const;
};

FileStamp stamp_of(const char* path);

}  // namespace softalign
