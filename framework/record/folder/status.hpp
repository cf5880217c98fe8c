// How a run stands, derived from its folder's files; a summary that is cheap to read for thousands
// of runs. The journals are the truth, this is for people and programs that look.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/claim.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

enum class RunState {
  planned,      // nobody has begun it
  claimed,      // by a process that is alive, or may be, and has recorded nothing yet
  running,      // the same, and it records
  interrupted,  // stopped with its state saved
  trained,      // the same, at the end of its training: its test failed
  complete,
  pruned,     // its sweep stopped it early, with its state saved
  failed,     // stopped by an error
  lost,       // its owner process is dead; resumable
  corrupt,    // its files are damaged
  unreadable  // they could not be read just now, which proves nothing about them
};
std::string_view to_string(RunState state);
std::optional<RunState> run_state(std::string_view name);  // the state that is called so
bool from_string(std::string_view name, RunState& state);
std::span<const RunState> run_states();  // all of them
// Whether a process that is alive, or may be, works on the run.
inline bool is_worked_on(RunState state) {
  return state == RunState::claimed || state == RunState::running;
}
// Whether a run came to an end from which it does not go on.
inline bool is_over(RunState state) {
  return state == RunState::complete || state == RunState::pruned;
}

struct RunStatus {
  RunState state = RunState::planned;
  Index attempt = 0;
  Index last_update = 0;
  Index updates = 0;     // that there will be, unless training stops early; 0: not known yet
  NamedNumbers metrics;  // the last values, "train/loss"
  double heartbeat = 0;  // Unix time of the last sign of life
  std::string owner;     // who runs it, or ran it last; no part of status.json

  template <class V>
  void describe(V& v) {
    v("state", state);
    v("attempt", attempt);
    v("last_update", last_update);
    v("updates", updates);
    v("metrics", metrics);
    v("heartbeat", heartbeat);
    std::string utc = utc_time(heartbeat);  // for people
    v("heartbeat_utc", utc);
  }
};

// How a run stands, for every command that says so. What status.json does not say yet, or says no
// more, comes from the newest claim and journal, and from run.h5: a run is over when that has its end.
// Never throws for a run that others are writing; damaged files count as absent ones. MachineError where
// a file cannot be read, whose state is not known then.
RunStatus run_status(const RunFolder& run, const LivenessCheck& proof = proof_of_death);

// The end, complete or pruned, of which run.h5 is the record; nothing where it is a record from before the
// newest attempt's end, or absent. The journal has an end first: run.h5 is behind when the disk was full,
// or the process killed, at the last publication. Throws DataError for a damaged record, MachineError for
// one that cannot be read.
std::optional<RunState> published_end(const RunFolder& run);

// Gives a number of this name its newest value.
void set(NamedNumbers& numbers, const std::string& name, double value);

void write_status(FileSystem& files, const RunFolder& run, const RunStatus& status);

}  // namespace softalign
