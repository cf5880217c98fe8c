// A checkpoint file: named blobs and a trailing SHA-256; and numbers in a blob. The trainer defines the content of the
// blobs.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

using Blobs = std::map<std::string, std::string>;  // name to bytes

struct Checkpoint {
  Index update = 0;
  Blobs blobs;
};

// Writes ckpt/upd-<update>-<hash>.ckpt, which is on disk when this returns, and returns its mark for the
// journal: only a marked checkpoint is ever used. Because of the hash in its name, an existing file is never
// replaced by another.
CheckpointMark save_checkpoint(FileSystem& files,
                               const std::filesystem::path& folder,
                               Index update,
                               const Blobs& blobs);

// Returns the blobs; nothing if the file is absent or does not match its hash. Throws MachineError if it is unreadable.
std::optional<Blobs> load_checkpoint(const std::filesystem::path& folder,
                                     const CheckpointMark& mark);

// Returns whether a file has a name of save_checkpoint.
bool is_checkpoint(const std::string& name);

// Removes the checkpoints of the folder that are not marked, and no other files.
void remove_other_checkpoints(FileSystem& files,
                              const std::filesystem::path& folder,
                              const std::vector<CheckpointMark>& keep);

// Returns the bytes of numbers, for a checkpoint's blobs.
inline std::string bytes_of(const real* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(real)};
}

// Returns the blob of this name. Throws DataError if there is none.
inline const std::string& blob_of(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.blobs.find(name);
  if (found == checkpoint.blobs.end())
    throw DataError("checkpoint of update {}: '{}' is missing", checkpoint.update, name);
  return found->second;
}

// Returns the result of `read` on such a blob, which it must consume completely. Throws DataError.
template <class Read>
auto read_blob(const Checkpoint& checkpoint, const std::string& name, const Read& read) {
  ByteReader in(blob_of(checkpoint, name));
  try {
    auto result = read(in);
    if (in.left() == 0) return result;
  } catch (const DataError&) {
  }
  throw DataError("checkpoint of update {}: '{}' has another size", checkpoint.update, name);
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
    throw DataError("checkpoint of update {}: '{}' has another size", checkpoint.update, name);
  std::memcpy(numbers, blob.data(), blob.size());
}

}  // namespace softalign
