// Claims on a run, and its status, derived from its folder's files; a summary that is cheap to read for
// thousands of runs. The journals are the truth, this is for people and programs that look.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

// Who works on a run. Attempt n belongs to the one process that managed to create its claim; it is
// over when the claim has been released or its process is dead (proof_of_death). Claims are never removed
// or replaced, so two processes can never both take over from a dead one.
struct Owner {
  std::string host;
  std::string machine_id;     // /etc/machine-id
  std::string boot_id;        // of the kernel that runs the process
  std::string pid_namespace;  // process numbers mean nothing outside it
  std::int64_t pid = 0;
  std::string pid_start;
  std::string job;  // SOFTALIGN_JOB, which names a task of a scheduler; empty outside
  Index attempt = 0;
  double time = 0;
  std::filesystem::path claim =
      {};  // the file that it was read from, which its process touches; not stored

  static Owner self();
  std::string str() const;  // "process 4711 on host oak (job array-001/12/3)"

  template <class V>
  void describe(V& v) {
    v("host", host);
    v("pid", pid);
    v("pid_start", pid_start);
    v("boot_id", boot_id);
    v("machine_id", machine_id);
    v("pid_namespace", pid_namespace);
    v("job", job);
    v("attempt", attempt);
    v("time", time);
    std::string claimed = utc_time(time);  // for people
    v("claimed", claimed);
  }
};

// The claim on the newest attempt, if there is one. Throws DataError when it cannot be understood.
std::optional<Owner> newest_claim(const RunFolder& run);

// Returns whether the owner's process can be seen from here: it runs on this machine.
bool is_seen_alive(const Owner& owner);

// Returns why the owner is dead; empty when that cannot be known from here. An owner that is not seen from here
// is dead if this process is the same task of a scheduler, which runs no task twice at a time, or if its claim was
// not touched for ten minutes by the clock of the file server: that of another host may be wrong.
std::string proof_of_death(const Owner& owner);
using LivenessCheck =
    std::function<std::string(const Owner&)>;  // override to ask elsewhere too, e.g. a scheduler

// Another process, which may be alive, works on the run.
struct RunInUse : MachineError {
  using MachineError::MachineError;
};

// This process's claim on the next attempt, from construction to destruction. A thread of its own touches the file
// twice a minute, however long a step of the training takes.
class Claim {
 public:
  // Creates attempt-<n>/CLAIM. RunInUse naming the owner when another process works on the run,
  // or may do so; `steal` takes it then all the same.
  Claim(FileSystem& files,
        const RunFolder& run,
        bool steal,
        const LivenessCheck& proof = proof_of_death);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  Index attempt() const { return attempt_; }
  // Why a dead owner's attempt was taken over; empty when there was none.
  const std::string& reason() const { return reason_; }
  // Throws RunInUse if another process has taken the run over, as from one that was halted for ten minutes.
  void check() const;

 private:
  class Heartbeat;

  FileSystem& files_;
  RunFolder run_;
  Index attempt_ = 0;
  std::string reason_;
  std::string released_;  // the file
  std::unique_ptr<Heartbeat> heartbeat_;
};

// For a signal's handler that ends the process next: releases this process's newest claim, if it has
// one, with the word that the run was interrupted.
void release_claim_at_once();

enum class RunState {
  planned,      // not started
  claimed,      // by a process that is alive, or may be, and has recorded nothing yet
  running,      // claimed, and recording
  interrupted,  // stopped with its state saved
  trained,      // interrupted at the end of its training: its test failed
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
// Returns whether a process that is alive, or may be, works on the run.
inline bool is_worked_on(RunState state) {
  return state == RunState::claimed || state == RunState::running;
}
// Returns whether a run came to an end from which it does not continue.
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

// Reads status.json, which is written every few seconds; returns a new status if the file is absent or damaged.
RunStatus read_status(const RunFolder& run);

// The status of a run, for every command that shows it. Facts that are not yet or no longer in status.json
// come from the newest claim and journal, and from run.h5: a run is over if its record has its end. Never
// throws for a run that is being written; damaged files count as absent. Throws MachineError if a file is
// unreadable, because the state is then unknown.
RunStatus run_status(const RunFolder& run, const LivenessCheck& proof = proof_of_death);

// The end, complete or pruned, that run.h5 records; empty if the record is older than the end of the
// newest attempt, or absent. The end is written to the journal first, so run.h5 is older if the disk was
// full or the process was killed at the last publication. Throws DataError for a damaged record,
// MachineError for an unreadable one.
std::optional<RunState> published_end(const RunFolder& run);

// Gives a number of this name its newest value.
void set(NamedNumbers& numbers, const std::string& name, double value);

// last_check: called when all is written but the name, and may throw.
void write_status(FileSystem& files,
                  const RunFolder& run,
                  const RunStatus& status,
                  const std::function<void()>& last_check = {});

}  // namespace softalign
