// Claims on a run, and its status, derived from its folder's files; a summary that is cheap to read for
// thousands of runs. The journals are authoritative; status.json is for readers and monitoring programs.
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

// The process that works on a run. Attempt n belongs to the process that created its claim; it ends when
// the claim is released or the process is dead (proof_of_death). Claims are never removed or replaced, so
// two processes can never both take over from a dead one.
struct Owner {
  std::string host;
  std::string machine_id;     // /etc/machine-id
  std::string boot_id;        // of the kernel that runs the process
  std::string pid_namespace;  // process numbers are valid only inside it
  std::int64_t pid = 0;
  std::string pid_start;
  std::string job;  // SOFTALIGN_JOB, the task of a scheduler; empty if there is none
  Index attempt = 0;
  double time = 0;
  std::filesystem::path claim = {};  // the file of the claim, which its process touches; not stored

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
    std::string claimed = utc_time(time);  // for readers
    v("claimed", claimed);
  }
};

// Returns the claim on the newest attempt, if there is one. Throws DataError if it is invalid.
std::optional<Owner> newest_claim(const RunFolder& run);

// Returns whether the owner's process runs on this machine, where it is visible.
bool is_seen_alive(const Owner& owner);

// Returns the reason why the owner is dead; empty if that is unknown. An owner on another machine or in another
// container is dead if this process is the same task of a scheduler, which runs no task twice at a time, or if its
// claim was not touched for ten minutes by the clock of the file server, because that of another host may be wrong.
std::string proof_of_death(const Owner& owner);
using LivenessCheck =
    std::function<std::string(const Owner&)>;  // or one that also asks a scheduler

// Another process, which may be alive, works on the run.
struct RunInUse : MachineError {
  using MachineError::MachineError;
};

// This process's claim on the next attempt, from construction to destruction. A thread of its own touches the file
// twice a minute, however long a step of the training takes.
class Claim {
 public:
  // Creates attempt-<n>/CLAIM. Throws RunInUse, which names the owner, if another process works on the
  // run, or may do so, unless `steal` is set.
  Claim(FileSystem& files,
        const RunFolder& run,
        bool steal,
        const LivenessCheck& proof = proof_of_death);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  Index attempt() const { return attempt_; }
  // The reason why the run was taken over from another owner; empty if it was not.
  const std::string& reason() const { return reason_; }
  // Throws RunInUse if another process has taken the run over, for example after this one was stopped for minutes.
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

// For signal handlers that then end the process: releases this process's newest claim, if it has one, as
// interrupted.
void release_claim_at_once();

enum class RunState {
  planned,      // not started
  claimed,      // by a process that may be alive and has recorded nothing yet
  running,      // claimed, and recording
  interrupted,  // stopped with its state saved
  trained,      // interrupted at the end of its training: its test failed
  complete,
  pruned,     // its sweep stopped it early, with its state saved
  failed,     // stopped by an error
  lost,       // its owner process is dead; resumable
  corrupt,    // its files are damaged
  unreadable  // its files could not be read, but may be intact
};
std::string_view to_string(RunState state);
std::optional<RunState> run_state(std::string_view name);  // nothing for an unknown name
bool from_string(std::string_view name, RunState& state);
std::span<const RunState> run_states();  // all of them
// Returns whether a process that may be alive works on the run.
inline bool is_worked_on(RunState state) {
  return state == RunState::claimed || state == RunState::running;
}
// Returns whether a run has ended and does not continue.
inline bool is_over(RunState state) {
  return state == RunState::complete || state == RunState::pruned;
}

struct RunStatus {
  RunState state = RunState::planned;
  Index attempt = 0;
  Index last_update = 0;
  Index updates = 0;     // planned, if training does not stop early; 0: unknown
  NamedNumbers metrics;  // the last values, "train/loss"
  double heartbeat = 0;  // Unix time of the last update of the status
  std::string owner;     // the current or last owner; not in status.json

  template <class V>
  void describe(V& v) {
    v("state", state);
    v("attempt", attempt);
    v("last_update", last_update);
    v("updates", updates);
    v("metrics", metrics);
    v("heartbeat", heartbeat);
    std::string utc = utc_time(heartbeat);  // for readers
    v("heartbeat_utc", utc);
  }
};

// Reads status.json, which is written every few seconds; returns a new status if the file is absent or damaged.
RunStatus read_status(const RunFolder& run);

// Returns the status of a run, for all commands that show it. Facts that status.json lacks or has no longer
// come from the newest claim and journal, and from run.h5: a run has ended if its record has its end. Never
// throws for a run that is being written; damaged files count as absent. Throws MachineError if a file is
// unreadable, because the state is then unknown.
RunStatus run_status(const RunFolder& run, const LivenessCheck& proof = proof_of_death);

// Returns the end, complete or pruned, that run.h5 records; empty if the record is older than the end of the
// newest attempt, or absent. The end is written to the journal first, so run.h5 is older if the disk was
// full or the process was killed at the last publication. Throws DataError for a damaged record,
// MachineError for an unreadable one.
std::optional<RunState> published_end(const RunFolder& run);

// Sets the number of this name.
void set(NamedNumbers& numbers, const std::string& name, double value);

// last_check: called before the renaming; may throw.
void write_status(FileSystem& files,
                  const RunFolder& run,
                  const RunStatus& status,
                  const std::function<void()>& last_check = {});

}  // namespace softalign
