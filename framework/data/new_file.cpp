#include "framework/data/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "framework/base/path.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

std::string shown(const fs::path& path) { return printable(path.string(), kWhole); }

// Whether the open file still is what stands under this name.
bool is_named(int file, const fs::path& path) {
  struct stat opened {
  }, named{};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FileFault::FileFault(const std::string& what) : FileFault(what, std::strerror(errno)) {}

fs::path beside(const fs::path& place) {
  return place.parent_path() / fmt::format(".{}.new", place.filename().string());
}

std::unique_ptr<NewFile> NewFile::begin(const fs::path& place) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (error) throw FileFault("make the folder " + shown(place.parent_path()), error.message());
  const fs::path path = beside(place);
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  for (;;) {
    const int file = retry([&] { return open(path.c_str(), flags, 0666); });
    if (file < 0) throw FileFault("create " + shown(path));
    std::unique_ptr<NewFile> made(new NewFile(place, file));
    if (retry([&] { return flock(file, LOCK_EX | LOCK_NB); }) != 0) {
      made->in_place_ = true;  // not ours to remove
      if (errno == EWOULDBLOCK) return nullptr;
      throw FileFault("lock " + shown(path));
    }
    std::error_code unknown;
    if (!fs::exists(path, unknown) && unknown)
      throw FileFault("look at " + shown(path), unknown.message());
    if (!is_named(file, path)) {  // its maker put it in place, or somebody removed it, just now
      made->in_place_ = true;
      continue;
    }
    if (retry([&] { return ftruncate(file, 0); }) != 0) throw FileFault("empty " + shown(path));
    return made;
  }
}

NewFile::~NewFile() {
  if (!in_place_ && is_named(file_, beside(place_))) unlink(beside(place_).c_str());
  close(file_);
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = retry([&] { return ::write(file_, bytes.data(), bytes.size()); });
    if (n == 0) errno = EIO;
    if (n <= 0) throw FileFault("write to " + shown(beside(place_)));
    bytes = bytes.subspan(usize(n));
  }
}

void NewFile::sync() {
  if (retry([&] { return fsync(file_); }) != 0) throw FileFault("sync " + shown(beside(place_)));
}

void NewFile::put_in_place() {
  if (!is_named(file_, beside(place_)))
    throw FileFault("put " + shown(place_) + " in its place", "it was removed meanwhile");
  const auto put = [&] { return rename(beside(place_).c_str(), place_.c_str()) == 0; };
  if (!put() && (errno != EISDIR || rmdir(place_.c_str()) != 0 || !put())) {
    const bool full = errno == ENOTEMPTY || errno == EEXIST;
    throw FileFault("put " + shown(place_) + " in its place",
                    full ? "a folder stands there; move it away" : std::strerror(errno));
  }
  in_place_ = true;
  const int folder = open(place_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // it is in place; a crash may only lose it
  fsync(folder);
  close(folder);
}

}  // namespace softalign
