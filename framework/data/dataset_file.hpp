// A dataset as one file: examples as they are appended, then their rows, then the rest as JSON, then
// a trailer that says whose it is and whether it is whole. In the machine's own byte order: it is
// made where it is read. dataset_cache.hpp decides when there is one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/data/checksum.hpp"
#include "framework/data/dataset.hpp"
#include "framework/record/file.hpp"

namespace softalign {

// Writes a dataset in one pass; in memory stay the rows (32 bytes an example) until finish.
class DatasetWriter {
 public:
  explicit DatasetWriter(File& file) : file_(file) {}

  // Examples of a split come in order; splits may alternate. Throws MachineError.
  void append(const Split& split, const Example& example);

  // `data`: everything but the examples. `key`: 64 characters by which it is known. Throws
  // MachineError.
  void finish(const Dataset& data, const std::string& key);

 private:
  void put(const void* data, std::size_t size);
  void write_out();

  File& file_;
  std::vector<std::byte> buffer_;
  std::size_t written_ = 0;
  Checksum sum_;                                         // of what is written
  std::map<std::string, std::vector<ExampleRow>> rows_;  // by the split's name
};

// What `finish` wrote under this key, its examples mapped; nothing unless every byte is as it was
// written. `file` may be closed then. Throws MachineError when the system cannot map it.
std::optional<Dataset> read_dataset(int file, const std::string& key);

}  // namespace softalign
