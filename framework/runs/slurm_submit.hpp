// Hands rows of a sweep to Slurm. Everything that runs later is in the sweep's folder: nothing
// depends on the process, the shell or the machine that submitted.
//
//   <sweep>/slurm/submitted.json    job ids, rows and times of every submission
//                 array-001.sh      what sbatch was given
//                 logs/row-12.log
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/runs/slurm_script.hpp"

namespace softalign {

struct SubmittedArray {
  std::string job;  // array job id
  std::string cluster;
  Index offset = 0;
  std::string rows;    // "0-9"
  std::string script;  // relative to the sweep's folder
  std::string time;    // UTC

  template <class V>
  void describe(V& v) {
    v("job", job);
    v("cluster", cluster);
    v("offset", offset);
    v("rows", rows);
    v("script", script);
    v("time", time);
  }
};

// Every submission so far, oldest first; empty when there was none. Throws DataError for a file that
// cannot be understood.
std::vector<SubmittedArray> submitted_arrays(const std::filesystem::path& sweep_folder);

// The rows of the sweep in this folder that are in Slurm's queue or running. nullopt: Slurm does not
// answer.
std::optional<std::vector<Index>> queued_rows(const std::string& sweep,
                                              const std::filesystem::path& folder);

struct Submission {
  std::vector<RowArray> arrays;      // what was, or would be, submitted
  std::vector<std::string> scripts;  // of each
  std::vector<std::string> jobs;     // of each; empty for a dry run
  std::vector<Index> queued;         // wanted rows that Slurm has already
};

enum class SubmitMode { submit, dry_run, show };  // show: without asking Slurm anything

// Of `rows` (ascending), those that are not queued yet. Slurm is first asked whether it would take
// the jobs: SpecError with its words and the place of the option they are about, and nothing is
// submitted. MachineError when Slurm does not answer, or refuses an array after others were taken:
// the message says which rows are submitted.
Submission submit(const ScriptSetting& setting,
                  const std::vector<Index>& rows,
                  SubmitMode mode,
                  FileSystem& files = FileSystem::real());

}  // namespace softalign
