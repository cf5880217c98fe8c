// Paths, system calls and reading. Only regular files are read as files. All small files are read here, and
// opening one never blocks, not even on a pipe without a writer.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace softalign {

// Throws DataError "train.en: is a directory; name a file" for missing files, directories, pipes
// and devices. Opens nothing.
void demand_regular_file(const std::filesystem::path& file);

// Says why a file cannot be read: DataError where its name is wrong; MachineError for everything else
// (no permission, a lost network disk, a link to itself, no memory), which proves nothing about the file.
[[noreturn]] void throw_unreadable(const std::filesystem::path& path, int reason);

// Returns whether something exists; throws as above if that is unknown, and for a broken link.
bool is_there(const std::filesystem::path& path);

// Returns whether a folder exists, also for invalid names and broken links; throws MachineError if that is
// unknown.
bool is_folder(const std::filesystem::path& path);

// A regular file, or a link to one, open for reading. All functions throw as above; MachineError for what is
// not a regular file, with the remedy to move it away.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  std::uint64_t size() const { return size_; }  // bytes, when it was opened
  int descriptor() const { return descriptor_; }
  // Up to `size` bytes from offset `at` on; fewer only where the file ends.
  std::size_t read(char* to, std::size_t size, std::uint64_t at) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

// Holds a folder while it lives: other processes that want to hold it wait. Does nothing where it cannot be opened.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// The number and size of regular files at and below a path; links are not followed.
struct DiskUsage {
  std::uintmax_t files = 0, bytes = 0;
  DiskUsage& operator+=(const DiskUsage& other);
};
DiskUsage disk_usage(const std::filesystem::path& path);

inline constexpr std::uint64_t kLargestText = std::uint64_t{1}
                                              << 30;  // bytes: an upper bound for our texts
inline constexpr auto kAnySize = std::numeric_limits<std::uint64_t>::max();

// The whole content; throws as above, and DataError if it is larger than `largest` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t largest = kLargestText);

namespace fs = std::filesystem;

// The path without ".", doubled slashes and "..", as the system reads it. A ".." after a symbolic link is
// kept: it leads to the parent of the link's target, which std::filesystem's lexically_normal ignores.
fs::path normal_path(const fs::path& path);

// Such a path, absolute.
fs::path whole_path(const fs::path& path);

// The result of `call`, a system call that returns -1 and sets errno, repeated while that is EINTR.
template <class Call>
auto retry(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace softalign
