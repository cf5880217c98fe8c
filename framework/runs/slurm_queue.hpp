// Slurm's answers (squeue, scontrol): none of them is kept, and "no answer" is never taken for "no job".
// Commands and their output: Slurm 22.05 and 24.11.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/folder/status.hpp"

namespace softalign {

// `scontrol show config`, its keys in order. Throws MachineError with Slurm's own words when there
// is no Slurm here or it does not answer.
struct SlurmConfig {
  std::string cluster;
  Index max_array_size = 1001;     // indices are smaller
  std::optional<Index> max_tasks;  // of one array (SchedulerParameters=max_array_tasks)
  bool private_jobs = false;       // users do not see each other's jobs

  static SlurmConfig ask();
  static SlurmConfig parse(const std::string& text);
};

// A job, or one task of a job array.
struct SlurmTask {
  std::string job;    // "12", "12_3"
  std::string state;  // "PENDING", "RUNNING", "COMPLETED", ...
  Index restarts = 0;
  std::string name;

  bool may_run() const;  // now or later: in the queue, running or ending
};

// The tasks of one array ("12") or job; of all jobs that are mine. nullopt: Slurm does not answer.
std::optional<std::vector<SlurmTask>> slurm_tasks_of(const std::string& job);
std::optional<std::vector<SlurmTask>> my_slurm_tasks();

// Tells dead from slow among owners of runs that worked on other hosts. Slurm is asked when that is
// first needed, and once for each job array; so an object is for one look at things.
class SlurmWitness {
 public:
  // proof_of_death, and where it does not know: an owner in a job of this cluster is dead when Slurm
  // has that job no more, or has ended it, or has started it again since. Empty when Slurm does not
  // answer or is another cluster's.
  std::string operator()(const Owner& owner);

  // Returns whether the job is in Slurm's queue, running or ending; nullopt when that cannot be known.
  std::optional<bool> alive(const std::string& job);

 private:
  const std::optional<SlurmConfig>& config();
  const std::optional<std::vector<SlurmTask>>& tasks_of(const std::string& array);

  std::optional<std::optional<SlurmConfig>> config_;
  std::map<std::string, std::optional<std::vector<SlurmTask>>> tasks_;
};

}  // namespace softalign
