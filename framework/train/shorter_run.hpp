// More of the same: a run that differs from a complete one only in how long it trains goes on where that
// one was, to the same bits.
#pragma once

#include <optional>
#include <string>

#include "framework/record/journal/beginning.hpp"
#include "framework/train/run_name.hpp"

namespace softalign {

// train.epochs, train.max_updates and train.early_stopping.patience: how long a run trains.
struct ShorterRun {
  std::string run_id;
  Beginning beginning;  // the newest of its checkpoints that the longer run passes, too
};

// Of the complete runs beside `run`, the run that came furthest, if it was made with the same arithmetic and
// plugins. Files that cannot be read are passed over.
std::optional<ShorterRun> find_shorter_run(const Spec& spec, const RunPlace& run);

}  // namespace softalign
