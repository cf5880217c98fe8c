// A file seen as memory, read-only. It may be removed or replaced by another meanwhile: the mapping
// keeps what it has.
#pragma once

#include <cstddef>

namespace softalign {

class MappedFile {
 public:
  // The first `size` > 0 bytes of an open file, which may be closed then. Throws MachineError.
  MappedFile(int file, std::size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Copies `size` bytes from `begin`, a place in the mapping, without making them resident. Throws
  // MachineError.
  void read(const void* begin, std::size_t size, void* to) const;

  // Resident pages become the system's own again; touched again, they come back. From any thread.
  void release() const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_;
  int file_;
};

}  // namespace softalign
