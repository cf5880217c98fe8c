// Submits rows of a sweep to a scheduler. All files of the jobs are in the sweep's folder, so that they do not depend
// on the process, the shell or the machine that submitted them.
//
//   <sweep>/jobs/submitted.json    job IDs, rows and times of every submission
//                array-001.sh      the script of an array: task first_index + i works on its i-th row
//                logs/row-12.log   output of row 12, in all of its starts
//                logs/array-001.log, or other names: output of the scheduler
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
  std::string scheduler;  // its name; no commands: a folder may come from someone else
  std::string cluster;    // of these jobs
  std::string user;       // who submitted them
  std::string script;     // "jobs/array-001.sh"
  std::string job;        // ID
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

// Returns all submissions so far, oldest first. Throws DataError for an invalid file.
std::vector<SubmittedArray> submitted_arrays(const std::filesystem::path& sweep_folder);

// The state of a sweep's jobs according to the scheduler, which is asked on first use and once for each array, so an
// object is a snapshot. Only schedulers that come with the program, or that the user names (`own`,
// SOFTALIGN_SCHEDULER), are asked, and only about this user's jobs on this cluster.
class Jobs {
 public:
  explicit Jobs(std::filesystem::path sweep_folder, std::string own = "");

  const std::vector<SubmittedArray>& arrays() const { return arrays_; }
  bool is_mine(const SubmittedArray& array);
  // Returns the rows of the waiting and running tasks, ascending, of an array of this user. Throws MachineError if the
  // scheduler does not answer.
  std::vector<Index> ask(const SubmittedArray& array);
  // Like `ask`, but returns nullopt if the state is unknown.
  std::optional<std::vector<Index>> queued(const SubmittedArray& array);
  // Throws MachineError if the scheduler does not cancel it.
  void cancel(const SubmittedArray& array);

  // Like proof_of_death, but if that is inconclusive, the end of the owner's job counts as proof.
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

// Returns Jobs::proof of an object that is created at the first call, and replaced after a minute.
LivenessCheck liveness_of(const std::filesystem::path& sweep_folder);

struct SubmitSetting {
  std::string sweep;
  std::filesystem::path folder;      // the sweep's, absolute
  std::vector<std::string> command;  // of a row: these words, then "--row", k, "--threads", n
  std::string what = "row";          // the unit in messages; for Optuna "worker"
  Scheduler scheduler;
  PlacedResources resources;
};

// Returns the script of an array. script: its file, "jobs/array-001.sh".
std::string array_script(const SubmitSetting& setting,
                         const std::vector<Index>& rows,
                         const std::string& script);

struct Submission {
  std::vector<std::vector<Index>> arrays;  // rows of each submitted (or planned) array
  std::vector<std::string> scripts;        // of each
  std::vector<std::string> jobs;           // of each; empty for a dry run
  std::vector<Index> queued;               // wanted rows that are queued already
  std::vector<std::string> notes;          // for the user
};

// Submits the `rows` (ascending) that are not queued yet. First asks the scheduler, if possible, whether it would accept
// the jobs; if not, throws a SpecError with its message and submits nothing. Throws MachineError if the scheduler does
// not answer, or refuses an array after accepting others; the message names the submitted rows. dry_run: submits and
// writes nothing, and needs no scheduler.
Submission submit(const SubmitSetting& setting,
                  const std::vector<Index>& rows,
                  bool dry_run,
                  FileSystem& files = FileSystem::real());

// Returns "0-2,5" for 0, 1, 2, 5.
std::string ranges_text(const std::vector<Index>& numbers);

}  // namespace softalign
