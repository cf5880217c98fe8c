// Extending a finished run: one that differs from a complete one only in how long it trains continues where that
// one was, to the same bits.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/journal/history.hpp"
#include "framework/train/run_name.hpp"

namespace softalign {

// train.epochs, train.max_updates and train.early_stopping.patience: how long a run trains.
struct ShorterRun {
  std::string run_id;
  std::filesystem::path folder;
  ResumePoint beginning;  // the newest of its checkpoints that the longer run passes, too
};

// Those of `runs` in which the run of folder `own` is complete under another name and can be taken over: this
// program made it, and a checkpoint is left.
std::vector<RunFolder> complete_elsewhere(const std::vector<RunFolder>& runs, const RunFolder& own);

// The same run under another name, or a shorter one beside it: whichever came furthest, of those that this program
// made (another version may record more numbers) with the same plugins. Damaged files are ignored.
// MachineError where a file cannot be read: what is trained already would be trained once more.
std::optional<ShorterRun> find_shorter_run(const Spec& spec,
                                           const RunPlace& run,
                                           const std::filesystem::path& results);

}  // namespace softalign
