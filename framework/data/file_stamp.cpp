#include "framework/data/file_stamp.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace softalign {
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
