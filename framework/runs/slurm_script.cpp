#include "framework/runs/slurm_script.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/runs/list_folder.hpp"

namespace softalign {
namespace {

struct Chunk {
  Index size = 1;  // a power of ten, at most MaxArraySize
  int digits = 0;
};

Chunk chunk_of(const SlurmConfig& config) {
  Chunk chunk;
  while (chunk.size * 10 <= config.max_array_size) {
    chunk.size *= 10;
    ++chunk.digits;
  }
  return chunk;
}

// For a line of #SBATCH: sbatch knows quotes there, and % in names of logs.
std::string sbatch_path(const std::string& path) {
  if (path.find_first_of("\"\\\n") != path.npos)
    throw SpecError(
        "{}: sbatch cannot be told this name; move the sweep to a folder without quotes, "
        "backslashes and line ends in its path",
        printable(path, kWhole));
  std::string escaped;
  for (const char c : path) escaped += c == '%' ? std::string("%%") : std::string(1, c);
  return escaped;
}

// "row-1%3a.log"; "row-12.log" where an array has one row.
std::string log_name(const RowArray& array, const Chunk& chunk) {
  const Index front = array.offset / chunk.size;
  if (chunk.digits == 0) return fmt::format("row-{}.log", front);
  const std::string leading = front == 0 ? "" : std::to_string(front);
  return fmt::format("row-{}%{}a.log", leading, chunk.digits);
}

std::string directives(const ScriptSetting& setting, const RowArray& array) {
  const SlurmResources& r = setting.resources.values;
  std::vector<Index> indices;
  for (const Index row : array.rows) indices.push_back(row - array.offset);
  // The folder is escaped, the row's place in the name is not.
  const std::string output = sbatch_path(ListFolder{setting.folder}.slurm_logs().string()) + "/" +
                             log_name(array, chunk_of(setting.config));
  std::vector<std::string> lines = {
      "--job-name=" + job_name(setting, array.offset),
      "--array=" + ranges_text(indices) + (r.concurrent ? fmt::format("%{}", *r.concurrent) : ""),
      fmt::format("--chdir=\"{}\"", setting.folder.string()),
      fmt::format("--output=\"{}\"", output),
      "--open-mode=append",
      "--requeue",
      "--nodes=1",
      "--ntasks=1",
      fmt::format("--cpus-per-task={}", r.cpus),
      fmt::format("--signal=USR1@{}", r.notice)};
  if (r.partition) lines.push_back("--partition=" + *r.partition);
  if (r.account) lines.push_back("--account=" + *r.account);
  if (r.qos) lines.push_back("--qos=" + *r.qos);
  if (r.time) lines.push_back("--time=" + *r.time);
  if (r.memory) lines.push_back("--mem=" + *r.memory);
  lines.insert(lines.end(), r.options.begin(), r.options.end());
  std::string text;
  for (const std::string& line : lines) text += "#SBATCH " + line + "\n";
  return text;
}

}  // namespace

std::vector<RowArray> row_arrays(const std::vector<Index>& rows, const SlurmConfig& config) {
  const Index size = chunk_of(config).size;
  const Index most = config.max_tasks.value_or(size);
  std::vector<RowArray> arrays;
  for (const Index row : rows) {
    const Index offset = row / size * size;
    if (arrays.empty() || arrays.back().offset != offset || std::ssize(arrays.back().rows) >= most)
      arrays.push_back({offset, {}});
    arrays.back().rows.push_back(row);
  }
  return arrays;
}

std::string ranges_text(const std::vector<Index>& numbers) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    const Index first = numbers[i], last = numbers[end - 1];
    ranges.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    i = end;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

std::string job_prefix(const std::string& sweep, const fs::path& folder) {
  return fmt::format("{}-{}", sweep, sha256_hex(folder.string()).substr(0, 8));
}

std::string job_name(const ScriptSetting& setting, Index offset) {
  return fmt::format("{}+{}", job_prefix(setting.sweep, setting.folder), offset);
}

std::string batch_script(const ScriptSetting& setting, const RowArray& array) {
  const SlurmResources& r = setting.resources.values;
  std::string setup;  // a line that fails ends the row
  for (const std::string& line : r.setup) setup += line + "\n";
  if (!setup.empty()) setup = fmt::format("set -e\n{}set +e\n", setup);
  std::vector<std::string> command;
  for (const std::string& word : setting.command) command.push_back(shell_word(word));
  return fmt::format(
      R"bash(#!/bin/bash
# Rows {rows} of the sweep {sweep}: row = {offset} + the task's number.
{directives}
row=$(({offset} + SLURM_ARRAY_TASK_ID))
task=${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}
restarts=${{SLURM_RESTART_COUNT:-0}}
echo "row $row: Slurm job $task on $(uname -n), restart $restarts, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
{setup}srun --ntasks=1 --cpus-per-task={cpus} {command} --row "$row" --threads {cpus}
status=$?
if [ "$status" -eq 75 ]; then  # stopped with its state saved, as before a time limit
  if [ "$restarts" -lt {max_restarts} ]; then
    echo "row $row: interrupted, to be started again"
    scontrol requeue "$task" && exit 0  # Slurm ends this script by itself
  fi
  echo "row $row: interrupted after $restarts restarts; softalign sweep submit goes on with it"
fi
exit "$status"
)bash",
      fmt::arg("rows", ranges_text(array.rows)),
      fmt::arg("sweep", setting.sweep),
      fmt::arg("offset", array.offset),
      fmt::arg("directives", directives(setting, array)),
      fmt::arg("setup", setup),
      fmt::arg("cpus", r.cpus),
      fmt::arg("command", fmt::join(command, " ")),
      fmt::arg("max_restarts", r.max_restarts));
}

}  // namespace softalign
