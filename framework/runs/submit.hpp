// Hands rows of a sweep to a scheduler. Everything that runs later is in the sweep's folder: nothing depends on the
// process, the shell or the machine that submitted.
//
//   <sweep>/jobs/submitted.json    job IDs, rows and times of every submission
//                array-001.sh      the script of an array: task first_index + i works on its i-th row
//                logs/row-12.log   what row 12 printed, in all of its starts
//                logs/array-001.log, or names of the scheduler's choice: what it said itself
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/runs/scheduler.hpp"
#include "framework/study/settings.hpp"

namespace softalign {

struct SubmittedArray {
  std::string
      scheduler;        // its name; commands are not stored, because a folder may come from anyone
  std::string cluster;  // where it has these jobs
  std::string user;     // whose they are
  std::string script;   // "jobs/array-001.sh"
  std::string job;      // ID
  Index first_index = 0;
  std::vector<Index> rows;  // of its tasks
  std::string time;         // UTC

  template <class V>
  void describe(V& v) {
    v("scheduler", scheduler);
    v("cluster", cluster);
    v("user", user);
    v("script", script);
    v("job", job);
    v("first_index", first_index);
    v("rows", rows);
    v("time", time);
  }
};

// Every submission so far, oldest first; empty when there was none. Throws DataError for a file that
// cannot be understood.
std::vector<SubmittedArray> submitted_arrays(const std::filesystem::path& sweep_folder);

// The scheduler's view of what was submitted from a sweep's folder. It is asked when that is first needed, and once
// for each array, so an object is for one look. Only schedulers that come with the program, or that the user names
// (`own`, SOFTALIGN_SCHEDULER), are asked, and only about this user's jobs on this cluster.
class Jobs {
 public:
  explicit Jobs(std::filesystem::path sweep_folder, std::string own = "");

  const std::vector<SubmittedArray>& arrays() const { return arrays_; }
  bool is_mine(const SubmittedArray& array);
  // The rows of its tasks that wait or run, ascending, of an array that is mine. Throws MachineError when the scheduler
  // does not answer.
  std::vector<Index> ask(const SubmittedArray& array);
  // Like `ask`; nullopt: unknown.
  std::optional<std::vector<Index>> queued(const SubmittedArray& array);
  // Throws MachineError when the scheduler does not cancel it.
  void cancel(const SubmittedArray& array);

  // Like proof_of_death; if that is inconclusive, an owner is dead when its job has ended.
  std::string proof(const Owner& owner);

 private:
  struct Known {
    Scheduler scheduler;
    std::string cluster;
  };
  const Known* known(const std::string& scheduler);

  std::filesystem::path folder_;
  std::string own_;
  std::vector<SubmittedArray> arrays_;
  std::map<std::string, std::optional<Known>> schedulers_;
  std::map<std::string, std::optional<std::vector<Index>>> queued_;  // by script
};

// Returns Jobs::proof of an object that is created at the first call, and again after a minute.
LivenessCheck liveness_of(const std::filesystem::path& sweep_folder);

struct SubmitSetting {
  std::string sweep;
  std::filesystem::path folder;      // the sweep's, absolute
  std::vector<std::string> command;  // of a row: these, then "--row", k, "--threads", n
  std::string what = "row";          // what is counted; of Optuna: "worker"
  Scheduler scheduler;
  PlacedResources resources;
};

// The script of an array. script: its file, "jobs/array-001.sh".
std::string array_script(const SubmitSetting& setting,
                         const std::vector<Index>& rows,
                         const std::string& script);

struct Submission {
  std::vector<std::vector<Index>> arrays;  // the rows of each that was, or would be, submitted
  std::vector<std::string> scripts;        // of each
  std::vector<std::string> jobs;           // of each; empty for a dry run
  std::vector<Index> queued;               // wanted rows that the scheduler has already
  std::vector<std::string> notes;          // for the user
};

// Submits those of `rows` (ascending) that are not queued yet. The scheduler is first asked whether it would take the
// jobs, if it can be: SpecError with its words, and nothing is submitted. MachineError when it does not answer, or
// refuses an array after others were taken: the message says which rows are submitted. dry_run: submits and writes
// nothing, and needs no scheduler.
Submission submit(const SubmitSetting& setting,
                  const std::vector<Index>& rows,
                  bool dry_run,
                  FileSystem& files = FileSystem::real());

// 0, 1, 2, 5 is "0-2,5".
std::string ranges_text(const std::vector<Index>& numbers);

}  // namespace softalign
