// A run as it was when it saved a checkpoint, in a folder of its own: what a second run of its end
// begins with.
#pragma once

#include <limits>
#include <optional>

#include "framework/record/folder/run_folder.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {

// Copies what the run recorded until a checkpoint that it still has, and the checkpoint, to a new
// folder, where a Recorder goes on. That is the newest of those whose update is at most `latest`, but
// for the one that the run ended with if there is another. The checkpoint's update; nothing where the
// run has none that is whole. Throws as read_history and FileSystem do.
std::optional<Index> copy_until_checkpoint(FileSystem& files,
                                           const RunFolder& run,
                                           const RunFolder& copy,
                                           Index latest = std::numeric_limits<Index>::max());

}  // namespace softalign
