// A run as it was when it saved a checkpoint, in a folder of its own: what a second run of its end
// begins with.
#pragma once

#include <optional>
#include <string>

#include "framework/record/folder/run_folder.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {

// Copies what the run recorded until a checkpoint that it still has, and the checkpoint, to a new
// folder, where a Recorder goes on. That is the newest of those whose update is at most `latest` and
// smaller than `last`, the run's last update; else one of that update, behind which there are
// evaluations. The checkpoint's update; nothing where the run has none that is whole. Throws as
// read_history, check_journals and FileSystem do.
std::optional<Index> copy_until_checkpoint(FileSystem& files,
                                           const RunFolder& run,
                                           const std::string& run_id,
                                           const RunFolder& copy,
                                           Index latest,
                                           Index last);

}  // namespace softalign
