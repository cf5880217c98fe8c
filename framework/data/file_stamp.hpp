// What the system says of a file without reading it: enough to know that it is as it was, as git's
// index knows it. Whoever remembers what he read in a file keeps the stamp that it had before.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>

namespace softalign {

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
