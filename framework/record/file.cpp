#include "framework/record/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <regex>
#include <string_view>
#include <system_error>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

MachineError failure(const char* what, const fs::path& path) {
  return MachineError("{}: cannot {}: {}", path.string(), what, std::strerror(errno));
}

fs::path temporary_for(const fs::path& path) {
  return folder_of(path) / fmt::format(".{}.tmp-{}", path.filename().string(), process_mark());
}

}  // namespace

FileSystem& FileSystem::real() {
  static FileSystem system;
  return system;
}

int FileSystem::open(const char* path, int flags) { return ::open(path, flags, 0666); }
int FileSystem::mkdir(const char* path) { return ::mkdir(path, 0777); }
ssize_t FileSystem::write(int file, const char* bytes, std::size_t size) {
  return ::write(file, bytes, size);
}
int FileSystem::fdatasync(int file) {
#ifdef __APPLE__
  return ::fsync(file);  // macOS has no fdatasync
#else
  return ::fdatasync(file);
#endif
}
int FileSystem::fsync(int file) { return ::fsync(file); }
int FileSystem::ftruncate(int file, off_t size) { return ::ftruncate(file, size); }
int FileSystem::close(int file) { return ::close(file); }
int FileSystem::rename(const char* from, const char* to) { return ::rename(from, to); }
int FileSystem::link(const char* from, const char* to) { return ::link(from, to); }
int FileSystem::unlink(const char* path) { return ::unlink(path); }

void FileSystem::write_atomically(const fs::path& path,
                                  std::string_view bytes,
                                  const Check& check) {
  write_atomically(
      path, [&](File& file) { file.append(bytes); }, check);
}

void FileSystem::write_atomically(const fs::path& path,
                                  const std::function<void(File&)>& write,
                                  const Check& check) {
  // Renaming over a device or a pipe would replace it by a file, even /dev/null.
  std::error_code error;
  if (const auto there = fs::status(path, error); fs::exists(there) && !fs::is_regular_file(there))
    throw MachineError("{}: is not a regular file; choose another name", path.string());
  const fs::path temporary = temporary_for(path);
  unlink(temporary.c_str());  // left by a dead process that had the same number
  try {
    File file(*this, temporary, path);
    write(file);
    file.sync();
    try {
      if (check) check(temporary);
    } catch (const DataError&) {
      throw MachineError("{}: does not read back as it was written; check the disk", path.string());
    }
    if (retry([&] { return rename(temporary.c_str(), path.c_str()); }) != 0)
      throw failure("replace it", path);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

bool FileSystem::create_once(const fs::path& path, std::string_view bytes) {
  const fs::path temporary = temporary_for(path);
  unlink(temporary.c_str());
  bool created = false;
  try {
    File file(*this, temporary, path);
    file.append(bytes);
    file.sync();
    created = retry([&] { return link(temporary.c_str(), path.c_str()); }) == 0;
    const int reason = errno;
    // The process that created it first may have removed our temporary file since, which is not a
    // failure.
    if (!created && reason != EEXIST && access(path.c_str(), F_OK) != 0) {
      errno = reason;
      throw failure("create it", path);
    }
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  remove(temporary);
  sync_folder(folder_of(path));
  return created;
}

void FileSystem::truncate(const fs::path& path, std::uint64_t size) {
  const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int file = retry([&] { return open(path.c_str(), flags); });
  if (file < 0) throw failure("open it for writing", path);
  const bool ok = retry([&] { return ftruncate(file, static_cast<off_t>(size)); }) == 0 &&
                  retry([&] { return fsync(file); }) == 0;
  const int reason = errno;
  close(file);
  errno = reason;
  if (!ok) throw failure("truncate its incomplete end", path);
}

void FileSystem::remove(const fs::path& path) {
  if (retry([&] { return unlink(path.c_str()); }) != 0 && errno != ENOENT)
    throw failure("remove it", path);
}

void FileSystem::make_folders(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path at = path; !at.empty() && !is_folder(at); at = at.parent_path())
    missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    const int reason = retry([&] { return mkdir(at->c_str()); }) == 0 ? 0 : errno;
    if (const bool there = reason == 0 || reason == EEXIST; !there || !is_folder(*at))
      throw MachineError("{}: cannot create the folder{}: {}",
                         path.string(),
                         *at == path ? "" : " " + at->string(),
                         std::strerror(there ? ENOTDIR : reason));
    sync_folder(folder_of(*at));
  }
}

void FileSystem::sync_folder(const fs::path& path) {
  const int file = retry([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (file < 0 && errno == EACCES) return;  // unreadable: not synced
  if (file < 0) throw failure("open the folder", path);
  const bool ok = retry([&] { return fsync(file); }) == 0 || errno == EINVAL;  // some network disks
  const int reason = errno;
  close(file);
  errno = reason;
  if (!ok) throw failure("sync the folder", path);
}

File::File(FileSystem& system, const fs::path& path) : File(system, path, path) {}

File::File(FileSystem& system, const fs::path& path, const fs::path& becomes)
    : system_(system), path_(becomes) {
  const int flags = O_CREAT | O_EXCL | O_APPEND | O_WRONLY | O_CLOEXEC;
  file_ = retry([&] { return system_.open(path.c_str(), flags); });
  if (file_ < 0) throw failure("create it", path_);
}

File::~File() { system_.close(file_); }

void File::append(std::string_view bytes) {
  if (broken_) throw MachineError("{}: nothing more can be written after an error", path_.string());
  const std::uint64_t size = size_ + bytes.size();
  while (!bytes.empty()) {
    const ssize_t n = retry([&] { return system_.write(file_, bytes.data(), bytes.size()); });
    if (n == 0) errno = EIO;
    if (n <= 0) fail("write to it");
    bytes.remove_prefix(usize(n));
  }
  size_ = size;
}

void File::sync() {
  if (broken_) throw MachineError("{}: nothing more can be written after an error", path_.string());
  if (retry([&] { return system_.fdatasync(file_); }) == 0) return;
  broken_ = true;  // the unsynced part is in an unknown state: never append to it
  throw failure("sync it to disk", path_);
}

void File::fail(const char* what) {
  const int reason = errno;
  broken_ = retry([&] { return system_.ftruncate(file_, static_cast<off_t>(size_)); }) != 0;
  errno = reason;
  throw failure(what, path_);
}

Temporary temporary(const fs::path& path) {
  static const std::regex form(R"(\..+\.tmp-([^.]*))");
  const std::string name = path.filename().string();
  std::smatch found;
  return std::regex_match(name, found, form) ? marked(found[1]) : Temporary::none;
}

std::string process_mark() { return fmt::format("{}-{}", process_space(), getpid()); }

Temporary marked(const std::string& mark) {
  static const std::regex form(R"((?:([0-9a-f]{8})-)?([0-9]{1,10}))");
  std::smatch found;
  if (!std::regex_match(mark, found, form)) return Temporary::none;
  const bool seen = !process_start_time(getpid()).empty();
  if (!seen || found[1] != process_space()) return Temporary::unknown;
  return process_start_time(std::stoll(found[2])).empty() ? Temporary::abandoned : Temporary::alive;
}

namespace {

constexpr std::size_t kDigits = 9;  // more attempts than any run has, without overflow

std::string numbered(std::string_view prefix, Index number, std::string_view suffix) {
  return fmt::format("{}{:03}{}", prefix, number, suffix);
}

// Returns the numbers in names of the form prefix, number, suffix.
std::vector<Index> numbers(const fs::path& folder,
                           std::string_view prefix,
                           std::string_view suffix) {
  std::vector<Index> found;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(prefix) || name.size() > prefix.size() + kDigits + suffix.size())
      continue;
    Index number = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (number > 0 && name == numbered(prefix, number, suffix)) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw_unreadable(folder, error.value());
  return names;
}

fs::path RunFolder::attempt(Index number) const { return root / numbered("attempt-", number, ""); }

fs::path RunFolder::journal(Index attempt) const {
  return root / numbered("journal-", attempt, ".jrnl");
}

std::vector<Index> RunFolder::attempts() const {
  std::vector<Index> found = attempt_folders();
  std::erase_if(found, [&](Index number) { return !is_there(claim(number)); });
  return found;
}

std::vector<Index> RunFolder::attempt_folders() const { return numbers(root, "attempt-", ""); }

std::vector<Index> RunFolder::journals() const { return numbers(root, "journal-", ".jrnl"); }

fs::path folder_of(const fs::path& record) {
  return record.has_parent_path() ? record.parent_path() : fs::path(".");
}

std::string remedy_for(const fs::path& record) {
  const RunFolder run{folder_of(record)};
  if (record.filename() != run.record().filename() || run.journals().empty())
    return "copy it again, or run its spec again with --force";
  return fmt::format(
      "`softalign recover {}` rebuilds it from its journals, or run its spec again with --force",
      shell_file(run.root.string()));
}

}  // namespace softalign
