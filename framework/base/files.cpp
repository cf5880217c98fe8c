#include "framework/base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.string(), kWhole); }

// Returns whether a system call failed because no file has, or can have, the given name.
bool names_nothing(int reason) {
  return reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG || reason == EINVAL;
}

}  // namespace

void demand_regular_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw_unreadable(file, error ? error.value() : ENOENT);
  if (std::filesystem::is_directory(status))
    throw DataError("{}: is a directory; name a file", shown(file));
  if (!std::filesystem::is_regular_file(status))
    throw DataError(
        "{}: is not a regular file but a pipe or a device; write its text to a file first",
        shown(file));
}

void throw_unreadable(const std::filesystem::path& path, int reason) {
  const char* const remedy = reason == EIO     ? "; check the disk"
                             : reason == ELOOP ? "; move it away"
                                               : "";
  if (names_nothing(reason))
    throw DataError("{}: cannot be read: {}{}", shown(path), std::strerror(reason), remedy);
  throw MachineError("{}: cannot be read: {}{}", shown(path), std::strerror(reason), remedy);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  const bool none_there = names_nothing(error.value()) || error.value() == ELOOP;
  if (type == std::filesystem::file_type::none && !none_there)
    throw_unreadable(path, error.value());
  return type == std::filesystem::file_type::directory;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::none) throw_unreadable(path, error.value());
  if (type != std::filesystem::file_type::not_found) return true;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, error)))
    throw MachineError("{}: is a broken symbolic link", shown(path));
  return false;
}

RegularFile::RegularFile(const std::filesystem::path& path)
    : path_(path),
      descriptor_(
          retry([&] { return open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); })) {
  struct stat info {};
  const bool known = descriptor_ >= 0 && fstat(descriptor_, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    size_ = static_cast<std::uint64_t>(info.st_size);
    return;
  }
  const int reason = errno;
  if (descriptor_ >= 0) close(descriptor_);
  if (!known && reason != ENXIO) throw_unreadable(path, reason);  // ENXIO: a socket or no device
  throw MachineError("{}: is {}, not a file; move it away",
                     shown(path),
                     S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device");
}

RegularFile::~RegularFile() { close(descriptor_); }

std::size_t RegularFile::read(char* to, std::size_t size, std::uint64_t at) const {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = retry(
        [&] { return pread(descriptor_, to + got, size - got, static_cast<off_t>(at + got)); });
    if (n < 0) throw_unreadable(path_, errno);
    if (n == 0) break;
    got += usize(n);
  }
  return got;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t largest) {
  const RegularFile file(path);
  if (file.size() > largest)
    throw DataError("{}: has {} bytes, too many for a file of this kind; move it away",
                    shown(path),
                    file.size());
  std::string bytes(usize(file.size()), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), 0));
  return bytes;
}

fs::path normal_path(const fs::path& path) {
  std::error_code error;
  fs::path normal;
  for (const fs::path& part : path) {
    const fs::path last = normal.filename();
    if (part == ".")
      continue;
    else if (part == ".." && normal.has_filename() && last != ".." &&
             !fs::is_symlink(normal, error))
      normal = normal.parent_path();
    else if (part != ".." || normal != normal.root_path() || normal.empty())
      normal /= part;
  }
  return normal.empty() && !path.empty() ? "." : normal;
}

fs::path whole_path(const fs::path& path) { return normal_path(fs::absolute(path)); }

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0) retry([&] { return flock(descriptor_, LOCK_EX); });
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

DiskUsage& DiskUsage::operator+=(const DiskUsage& other) {
  files += other.files;
  bytes += other.bytes;
  return *this;
}

DiskUsage disk_usage(const std::filesystem::path& path) {
  DiskUsage usage;
  std::error_code error, none;
  const auto add = [&](const std::filesystem::directory_entry& entry) {
    if (entry.symlink_status(none).type() == std::filesystem::file_type::regular)
      usage += {1, entry.file_size(none)};
  };
  const std::filesystem::directory_entry top(path, none);
  add(top);
  if (top.symlink_status(none).type() != std::filesystem::file_type::directory) return usage;
  for (std::filesystem::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error))
    add(*it);
  return usage;
}

}  // namespace softalign
