// Where things lie in the folder of a list of runs, beside the runs.
//
//   results/<name>/plan.jsonl, bases/<hash>.yaml, sweep.h5, study.json
//                  logs/<run id>.log, failures/<run id>, .corrupt/<run id>-1/
//                  optuna.journal, optuna.lock
//                  slurm/submitted.json, slurm/array-001.sh, slurm/logs/row-12.log
#pragma once

#include <filesystem>
#include <string>

namespace softalign {

struct ListFolder {
  std::filesystem::path root;

  std::filesystem::path plan() const { return root / "plan.jsonl"; }
  std::filesystem::path bases() const { return root / "bases"; }
  std::filesystem::path base(const std::string& name) const { return bases() / (name + ".yaml"); }
  std::filesystem::path table() const { return root / "sweep.h5"; }
  std::filesystem::path study() const { return root / "study.json"; }
  std::filesystem::path logs() const { return root / "logs"; }
  std::filesystem::path log(const std::string& run_id) const { return logs() / (run_id + ".log"); }
  std::filesystem::path failures() const { return root / "failures"; }
  // Why the last attempt at a row failed, in one line. An error before the run has a folder (data
  // that is missing) leaves no other trace.
  std::filesystem::path failure(const std::string& run_id) const { return failures() / run_id; }
  std::filesystem::path corrupt() const { return root / ".corrupt"; }
  std::filesystem::path slurm() const { return root / "slurm"; }
  std::filesystem::path submitted() const { return slurm() / "submitted.json"; }
  std::filesystem::path slurm_logs() const { return slurm() / "logs"; }
};

// Before a list's folder is written to, for it may be a stranger's. Throws DataError for the first
// thing that has one of these names and is none (check_place).
void check_places(const ListFolder& list);
// The same for what belongs to one run. below: its folder below the list's.
void check_places(const ListFolder& list,
                  const std::string& run_id,
                  const std::filesystem::path& below);

}  // namespace softalign
