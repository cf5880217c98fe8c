#include "framework/runs/slurm_submit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/process.hpp"
#include "framework/base/stored.hpp"
#include "framework/config/value.hpp"
#include "framework/runs/run_list.hpp"

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
  echo "row $row: interrupted after $restarts restarts; softalign sweep submit resumes it"
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

namespace {

// What Slurm wrote, in one line, without the programs' names.
std::string words_of(const ProgramOutcome& outcome) {
  if (outcome.timed_out) return "no answer within a minute";
  std::string words;
  for (std::string_view rest = outcome.error; !rest.empty();) {
    const std::string_view line = trimmed(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(
        std::min(rest.size(), rest.find('\n') == rest.npos ? rest.size() : rest.find('\n') + 1));
    if (!line.empty()) words += (words.empty() ? "" : "; ") + std::string(line);
  }
  return printable(words, 1000);
}

bool is_unreachable(const ProgramOutcome& outcome) {
  return !outcome.found() || outcome.timed_out ||
         outcome.error.find("contact slurm controller") != outcome.error.npos ||
         outcome.error.find("Socket timed out") != outcome.error.npos;
}

void check_that_slurm_would_take(const ScriptSetting& setting, const std::string& script) {
  const ProgramOutcome outcome = run_program({"sbatch", "--test-only"}, script);
  if (outcome.succeeded()) return;
  if (is_unreachable(outcome)) throw MachineError("Slurm does not answer: {}", words_of(outcome));
  const Position where = setting.resources.place_of(outcome.error);
  throw SpecError("{}: Slurm refuses the rows of this sweep: {}", where.str(), words_of(outcome));
}

}  // namespace

std::vector<SubmittedArray> submitted_arrays(const fs::path& sweep_folder) {
  const fs::path file = ListFolder{sweep_folder}.submitted();
  if (!fs::exists(file)) return {};
  try {
    return from_stored_text<std::vector<SubmittedArray>>(read_file(file));
  } catch (const DataError&) {
    throw DataError("{}: damaged; it only tells what was submitted when, so move it away",
                    file.string());
  }
}

std::optional<std::vector<Index>> queued_rows(const std::string& sweep, const fs::path& folder) {
  const auto tasks = my_slurm_tasks();
  if (!tasks) return std::nullopt;
  const std::string prefix = job_prefix(sweep, folder) + "+";
  std::vector<Index> rows;
  for (const SlurmTask& task : *tasks) {
    const std::size_t bar = task.job.find('_');
    if (!task.may_run() || !task.name.starts_with(prefix) || bar == task.job.npos) continue;
    Index offset = 0, index = 0;
    std::from_chars(task.name.data() + prefix.size(), task.name.data() + task.name.size(), offset);
    std::from_chars(task.job.data() + bar + 1, task.job.data() + task.job.size(), index);
    rows.push_back(offset + index);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

Submission submit(const ScriptSetting& setting,
                  const std::vector<Index>& rows,
                  SubmitMode mode,
                  FileSystem& files) {
  const auto queued =
      mode == SubmitMode::show ? std::vector<Index>() : queued_rows(setting.sweep, setting.folder);
  if (!queued) throw MachineError("Slurm does not answer (squeue); nothing was submitted");
  Submission submission;
  std::vector<Index> wanted;
  for (const Index row : rows)
    (std::binary_search(queued->begin(), queued->end(), row) ? submission.queued : wanted)
        .push_back(row);
  submission.arrays = row_arrays(wanted, setting.config);
  for (const RowArray& array : submission.arrays)
    submission.scripts.push_back(batch_script(setting, array));
  if (submission.arrays.empty() || mode == SubmitMode::show) return submission;
  check_that_slurm_would_take(setting, submission.scripts.front());
  if (mode == SubmitMode::dry_run) return submission;

  check_names_in(ListFolder{setting.folder});
  files.make_folders(ListFolder{setting.folder}.slurm_logs());
  std::vector<SubmittedArray> known = submitted_arrays(setting.folder);
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    const RowArray& array = submission.arrays[i];
    const std::string script = fmt::format("slurm/array-{:03}.sh", known.size() + 1);
    files.write_atomically(setting.folder / script, submission.scripts[i]);
    const ProgramOutcome outcome =
        run_program({"sbatch", "--parsable", (setting.folder / script).string()});
    if (!outcome.succeeded())
      throw MachineError(
          "Slurm refuses rows {}: {}; {} of {} job arrays are submitted: give the same "
          "command again for the rest",
          ranges_text(array.rows),
          words_of(outcome),
          i,
          submission.arrays.size());
    const std::string_view answer = trimmed(outcome.output);  // "12" or "12;cluster"
    submission.jobs.emplace_back(answer.substr(0, answer.find(';')));
    known.push_back({submission.jobs.back(),
                     setting.config.cluster,
                     array.offset,
                     ranges_text(array.rows),
                     script,
                     utc_time(unix_time())});
    files.write_atomically(ListFolder{setting.folder}.submitted(), stored_text(known));
  }
  return submission;
}

}  // namespace softalign
