// A sweep's rows as Slurm job arrays, and the batch script of each.
//
// Row = offset + index, where the indices of an array are smaller than MaxArraySize. The offsets are
// multiples of a power of ten, so that Slurm itself can put the row into the name of its log:
// row-1005.log is index 5 of the array with offset 1000, "row-1%3a.log".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/runs/slurm_queue.hpp"
#include "framework/study/slurm_resources.hpp"

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
  std::vector<std::string> command;  // what works on a row: these, then "--row", k, "--threads", n
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

}  // namespace softalign
