// Paths, system calls and reading. Only regular files are read, and opening one never blocks, not even on a pipe
// without a writer.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace softalign {

// Throws DataError "train.en: is a directory; name a file" for missing files, directories, pipes
// and devices. Does not open the file.
void demand_regular_file(const std::filesystem::path& file);

// Throws an error that says why a file cannot be read: DataError if the name is wrong; MachineError for any other
// reason (no permission, a lost network disk, a link to itself, no memory), which proves nothing about the file.
[[noreturn]] void throw_unreadable(const std::filesystem::path& path, int reason);

// Returns whether a path exists; throws as throw_unreadable if that is unknown, MachineError for a broken link.
bool is_there(const std::filesystem::path& path);

// Returns whether a path is a folder; invalid names and broken links are not. Throws MachineError if that is unknown.
bool is_folder(const std::filesystem::path& path);

// A regular file, or a link to one, open for reading. All functions throw as throw_unreadable; the constructor also
// throws MachineError for anything but a regular file, with the remedy to move it away.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  std::uint64_t size() const { return size_; }  // bytes, when the file was opened
  int descriptor() const { return descriptor_; }
  // Reads `size` bytes from offset `at`, fewer only at the end of the file. Returns their number.
  std::size_t read(char* to, std::size_t size, std::uint64_t at) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

// An exclusive lock on a folder; other processes wait for its release. Does nothing if the folder cannot be opened.
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

// Returns the content of a file; throws as RegularFile, and DataError if it is larger than `largest` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t largest = kLargestText);

namespace fs = std::filesystem;

// Returns the path without ".", doubled slashes and "..", as the system resolves it. A ".." after a symbolic link
// remains: it leads to the parent of the link's target, which std::filesystem's lexically_normal ignores.
fs::path normal_path(const fs::path& path);

// Returns the normal path made absolute.
fs::path whole_path(const fs::path& path);

// Returns the result of `call`, a system call that returns -1 and sets errno; repeats it while errno is EINTR.
template <class Call>
auto retry(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace softalign
