// A sweep's rows as Slurm job arrays, and the batch script of each.
//
// Row = offset + index, where the indices of an array are smaller than MaxArraySize. The offsets are
// multiples of a power of ten, so that Slurm itself can put the row into the name of its log:
// row-1005.log is index 5 of the array with offset 1000, "row-1%3a.log".
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/slurm_queue.hpp"
#include "framework/study/settings.hpp"

namespace softalign {

struct RowArray {
  Index offset = 0;
  std::vector<Index> rows;  // ascending, in [offset, offset + chunk)
};

// `rows` ascending. An array never holds more tasks than the cluster allows.
std::vector<RowArray> row_arrays(const std::vector<Index>& rows, const SlurmConfig& config);

// 0, 1, 2, 5 is "0-2,5".
std::string ranges_text(const std::vector<Index>& numbers);

struct ScriptSetting {
  std::string sweep;
  std::filesystem::path folder;      // the sweep's, absolute
  std::vector<std::string> command;  // the worker of a row: these, then "--row", k, "--threads", n
  SlurmConfig config;
  PlacedResources resources;
};

// The name that the jobs of a sweep's folder begin with: "score_functions-1a2b3c4d". The number is
// the folder's, so that sweeps of one name in two folders are not taken for one another.
std::string job_prefix(const std::string& sweep, const std::filesystem::path& folder);
// "<prefix>+<offset>".
std::string job_name(const ScriptSetting& setting, Index offset);

// The whole script: what sbatch is told, then for a row: the set-up lines, srun, and the requeue of
// a row that stopped with 75. Throws SpecError for a folder whose name Slurm cannot write down.
std::string batch_script(const ScriptSetting& setting, const RowArray& array);

// Hands rows of a sweep to Slurm. Everything that runs later is in the sweep's folder: nothing
// depends on the process, the shell or the machine that submitted.
//
//   <sweep>/slurm/submitted.json    job ids, rows and times of every submission
//                 array-001.sh      what sbatch was given
//                 logs/row-12.log

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

// Submits those of `rows` (ascending) that are not queued yet. Slurm is first asked whether it would take the
// jobs: SpecError with its words and the position of the option they are about, and nothing is submitted.
// MachineError when Slurm does not answer, or refuses an array after others were taken: the message says which
// rows are submitted.
Submission submit(const ScriptSetting& setting,
                  const std::vector<Index>& rows,
                  SubmitMode mode,
                  FileSystem& files = FileSystem::real());

}  // namespace softalign
