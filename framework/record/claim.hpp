// Who works on a run. Attempt n belongs to the one process that managed to create its claim; it is
// over when the claim has been released or its process is provably dead. Claims are never removed
// or replaced, so two processes can never both take over from a dead one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "framework/base/error.hpp"
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
  std::string slurm_job;  // job or array job and task, empty outside Slurm
  Index attempt = 0;
  double time = 0;

  static Owner self();
  std::string str() const;  // "process 4711 on host oak (Slurm job 12)"
};

// The claim on the newest attempt, if there is one. Throws DataError when it cannot be understood.
std::optional<Owner> newest_claim(const RunFolder& run);

// Why the owner is certainly dead; empty when that cannot be known from here.
std::string proof_of_death(const Owner& owner);

// Another process, which may be alive, works on the run.
struct RunInUse : MachineError {
  using MachineError::MachineError;
};

// This process's claim on the next attempt, from construction to destruction.
class Claim {
 public:
  // Creates attempt-<n>/CLAIM. RunInUse naming the owner when another process works on the run,
  // or may do so; `steal` takes it then all the same.
  Claim(FileSystem& files, const RunFolder& run, bool steal);
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
};

}  // namespace softalign
