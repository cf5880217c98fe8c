// How a run stands, derived from its folder's files; a summary that is cheap to read for thousands
// of runs. The journals are the truth, this is for people and programs that look.
#pragma once

#include <string>
#include <string_view>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/frames.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

enum class RunState {
  absent,       // never started
  running,      // claimed by a process that is alive, or may be
  interrupted,  // stopped with its state saved
  complete,
  failed,  // stopped by an error
  lost     // its process is provably gone without a word
};
std::string_view to_string(RunState state);

struct RunStatus {
  RunState state = RunState::absent;
  Index attempt = 0;
  Index last_update = 0;
  NamedNumbers metrics;  // the last values, "train/loss"
  double heartbeat = 0;  // Unix time of the last sign of life
  std::string owner;     // who runs it, or ran it last
};

// How a run stands, for every command that says so. What status.json does not say yet, or says no
// more, comes from the newest claim and journal. Never throws for a run that others are writing;
// damaged files count as absent ones.
RunStatus run_status(const RunFolder& run);

// Gives a number of this name its newest value.
void set(NamedNumbers& numbers, const std::string& name, double value);

void write_status(FileSystem& files, const RunFolder& run, const RunStatus& status);

}  // namespace softalign
