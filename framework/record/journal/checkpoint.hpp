// A checkpoint file: named blobs and a trailing SHA-256. What the blobs mean is the trainer's
// affair.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

using Blobs = std::map<std::string, std::string>;  // name to bytes

struct Checkpoint {
  Index update = 0;
  Blobs blobs;
};

// Writes ckpt/upd-<update>-<hash>.ckpt, on disk when this returns, and says how to mark it in the
// journal: only a marked checkpoint is ever used. The hash in the name means that a file, once
// there, is never replaced by another.
CheckpointMark save_checkpoint(FileSystem& files,
                               const std::filesystem::path& folder,
                               Index update,
                               const Blobs& blobs);

// The blobs, or nothing when the file is absent or does not match its hash; MachineError when it cannot be read.
std::optional<Blobs> load_checkpoint(const std::filesystem::path& folder,
                                     const CheckpointMark& mark);

// Whether a file's name is one that save_checkpoint gives.
bool is_checkpoint(const std::string& name);

// Removes the checkpoints of the folder that are not among the marked ones, and nothing else.
void remove_other_checkpoints(FileSystem& files,
                              const std::filesystem::path& folder,
                              const std::vector<CheckpointMark>& keep);

}  // namespace softalign
