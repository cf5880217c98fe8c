// Who works on a run. Attempt n belongs to the one process that managed to create its claim; it is
// over when the claim has been released or its process is provably dead. Claims are never removed
// or replaced, so two processes can never both take over from a dead one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

struct Owner {
  std::string host;
  std::string machine_id;     // /etc/machine-id
  std::string boot_id;        // of the kernel that runs the process
  std::string pid_namespace;  // process numbers mean nothing outside it
  std::int64_t pid = 0;
  std::string pid_start;
  std::string slurm_job;  // job or array job and task ("12_3"), empty outside Slurm; so are ...
  std::string slurm_cluster;
  std::string slurm_user;
  Index slurm_restarts = 0;  // how often Slurm had started the job again by then
  Index attempt = 0;
  double time = 0;

  static Owner self();
  std::string str() const;  // "process 4711 on host oak (Slurm job 12)"

  template <class V>
  void describe(V& v) {
    v("host", host);
    v("pid", pid);
    v("pid_start", pid_start);
    v("boot_id", boot_id);
    v("machine_id", machine_id);
    v("pid_namespace", pid_namespace);
    v("slurm_job", slurm_job);
    v("slurm_cluster", slurm_cluster);
    v("slurm_user", slurm_user);
    v("slurm_restarts", slurm_restarts);
    v("attempt", attempt);
    v("time", time);
    std::string claimed = utc_time(time);  // for people
    v("claimed", claimed);
  }
};

// The claim on the newest attempt, if there is one. Throws DataError when it cannot be understood.
std::optional<Owner> newest_claim(const RunFolder& run);

// Whether the owner's process is to be seen from here: it runs on this machine.
bool is_seen_alive(const Owner& owner);

// Why the owner is certainly dead; empty when that cannot be known from here.
std::string proof_of_death(const Owner& owner);
using LivenessCheck =
    std::function<std::string(const Owner&)>;  // who knows more asks elsewhere too

// Another process, which may be alive, works on the run.
struct RunInUse : MachineError {
  using MachineError::MachineError;
};

// This process's claim on the next attempt, from construction to destruction.
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

 private:
  FileSystem& files_;
  RunFolder run_;
  Index attempt_ = 0;
  std::string reason_;
  std::string released_;  // the file
};

// For a signal's handler that ends the process next: releases this process's newest claim, if it has
// one, with the word that the run was interrupted.
void release_claim_at_once();

}  // namespace softalign
