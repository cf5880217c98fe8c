// Numbers in a checkpoint's blobs.
#pragma once

#include <cstring>
#include <string>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {

inline std::string bytes_of(const real* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(real)};
}

// Throws DataError when there is no such blob.
inline const std::string& blob_of(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.blobs.find(name);
  if (found == checkpoint.blobs.end())
    throw DataError("checkpoint of update {}: '{}' is missing", checkpoint.update, name);
  return found->second;
}

// What `read` takes from such a blob, which must be all of it. Throws DataError.
template <class Read>
auto read_blob(const Checkpoint& checkpoint, const std::string& name, const Read& read) {
  ByteReader in(blob_of(checkpoint, name));
  try {
    auto result = read(in);
    if (in.left() == 0) return result;
  } catch (const DataError&) {
  }
  throw DataError("checkpoint of update {}: '{}' is of another size", checkpoint.update, name);
}

inline std::vector<double> list_of(const Checkpoint& checkpoint, const std::string& name) {
  return read_blob(checkpoint, name, [](ByteReader& in) { return in.list<double>(); });
}

inline void numbers_from(const Checkpoint& checkpoint,
                         const std::string& name,
                         real* numbers,
                         std::size_t count) {
  const std::string& blob = blob_of(checkpoint, name);
  if (blob.size() != count * sizeof(real))
    throw DataError("checkpoint of update {}: '{}' is of another size", checkpoint.update, name);
  std::memcpy(numbers, blob.data(), blob.size());
}

}  // namespace softalign
