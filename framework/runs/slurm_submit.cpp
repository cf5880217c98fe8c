#include "framework/runs/slurm_submit.hpp"

#include <algorithm>
#include <charconv>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/path.hpp"
#include "framework/base/program.hpp"
#include "framework/base/stored.hpp"
#include "framework/config/scalar.hpp"
#include "framework/runs/list_folder.hpp"

namespace softalign {
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

  check_places(ListFolder{setting.folder});
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
