#include "framework/data/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/types.hpp"

namespace softalign {

MappedFile::MappedFile(int file, std::size_t size)
    : size_(size), file_(fcntl(file, F_DUPFD_CLOEXEC, 0)) {
  if (file_ < 0) throw MachineError("cannot hold a file open: {}", std::strerror(errno));
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    const MachineError error("cannot map a file into memory: {}", std::strerror(errno));
    close(file_);
    throw error;
  }
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  munmap(const_cast<std::byte*>(data_), size_);
  close(file_);
}

void MappedFile::read(const void* begin, std::size_t size, void* to) const {
  off_t at = static_cast<const std::byte*>(begin) - data_;
  auto* next = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t n = retry([&] { return pread(file_, next, size, at); });
    if (n <= 0)
      throw MachineError(
          "the tokenised text in the cache can no longer be read ({}); run the same "
          "command again",
          n == 0 ? "the file was cut" : std::strerror(errno));
    next += n;
    at += n;
    size -= usize(n);
  }
}

void MappedFile::release() const {
  madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);  // it may refuse: only a hint
}

}  // namespace softalign
