// A dataset as one file: the examples in the order of appending, their rows, everything else as JSON, and
// a trailer with identity and checksum. The byte order is the machine's, because the file is read on the
// same machine. cache.hpp decides when to write one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/record/file.hpp"

namespace softalign {

// A fast checksum against corruption. It detects any change within one word; another change is missed with a
// probability of 2^-64. It is not a cryptographic hash and can be forged.
class Checksum {
 public:
  static constexpr std::size_t kBlock = 64;  // bytes

  // bytes: a multiple of kBlock. There are eight lanes, so that memory bandwidth is the limit and not the
  // multiplier.
  void add(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(kBlock))
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + k * sizeof word, sizeof word);
        lanes_[k] = mix(lanes_[k], word);
      }
  }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) sum = mix(sum, lane);
    return sum;
  }

 private:
  // A bijection in either argument.
  static std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
    return std::rotl((state ^ word) * 0x9e3779b97f4a7c15u, 29);
  }

  std::array<std::uint64_t, kBlock / sizeof(std::uint64_t)> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

// The rows of a split while its examples are written. They are in an unnamed file, so that they need no memory.
class HeldRows {
 public:
  explicit HeldRows(const std::filesystem::path& folder) : folder_(folder) {}
  ~HeldRows();
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

  void append(const ExampleRow& row);  // throws MachineError, as for_parts does
  std::size_t size() const { return written_ + part_.size(); }
  // Calls `take` with all rows, in order, part by part; the last part may be empty.
  void for_parts(const std::function<void(std::span<const ExampleRow>)>& take);

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path folder_;
  int file_ = -1;
  std::size_t written_ = 0;
  std::vector<ExampleRow> part_;  // rows that are not in the file yet
};

// Writes a dataset in one pass, in constant memory.
class DatasetWriter {
 public:
  // folder: for temporary files.
  DatasetWriter(File& file, const std::filesystem::path& folder) : file_(file), folder_(folder) {}

  // Examples of a split must be appended in order; splits may alternate. Throws MachineError.
  void append(const Split& split, const Example& example);

  // data: everything but the examples. key: 64 characters that identify the dataset. Throws MachineError.
  void finish(const Dataset& data, const std::string& key);

 private:
  void put(const void* data, std::size_t size);
  void write_out();

  File& file_;
  std::vector<std::byte> buffer_;
  std::size_t written_ = 0;
  Checksum sum_;  // of the written bytes
  std::filesystem::path folder_;
  std::map<std::string, HeldRows> rows_;  // by the split's name
};

// Returns the dataset that `finish` wrote with this key, its examples mapped, or nullopt if any byte has changed.
// whole: the bytes are known to be unchanged and need not be checked. `file` may be closed afterwards. Throws
// MachineError if the system cannot map it.
std::optional<Dataset> read_dataset(int file, const std::string& key, bool whole = false);

// A file mapped into memory, read-only. If the file is removed or replaced, the mapping keeps the
// old content.
class MappedFile {
 public:
  // Maps the first `size` > 0 bytes of an open file, which may be closed afterwards. Throws MachineError.
  MappedFile(int file, std::size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Copies `size` bytes from `begin`, an address in the mapping, without making them resident. Throws
  // MachineError.
  void read(const void* begin, std::size_t size, void* to) const;

  // Returns resident pages to the system; they are read again on access. May be called from any thread.
  void release() const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_;
  int file_;
};

}  // namespace softalign
