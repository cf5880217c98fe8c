#include "framework/runs/submit.hpp"

#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {
namespace {

std::string user_name() {
  const passwd* const entry = getpwuid(geteuid());
  return entry ? entry->pw_name : "";
}

// "array-001" of "jobs/array-001.sh".
std::string array_name(const std::string& script) { return fs::path(script).stem().string(); }

std::string text_of(const std::optional<std::string>& value) { return value.value_or(""); }
std::string text_of(const std::optional<Index>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string clock_text(Index seconds) {
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::vector<std::vector<Index>> arrays_of(const std::vector<Index>& rows, Index size) {
  std::vector<std::vector<Index>> arrays;
  for (const Index row : rows) {
    if (arrays.empty() || std::ssize(arrays.back()) >= size) arrays.emplace_back();
    arrays.back().push_back(row);
  }
  return arrays;
}

// Returns the last lines of every script. The scheduler's script defines the functions `launch` and `restart`, and sets
// `job` and `index`, and `restarts` if the log does not show the starts of a task.
std::string work_lines(const SubmitSetting& setting,
                       const std::vector<Index>& rows,
                       const std::string& script) {
  const Resources& r = setting.resources.values;
  std::string setup;  // a failing line ends the row
  for (const std::string& line : r.setup) setup += line + "\n";
  if (!setup.empty())
    setup =
        fmt::format("set -e\ntrap 'echo \"{} $row: setup failed\"' EXIT\n{}set +e\ntrap - EXIT\n",
                    setting.what,
                    setup);
  std::vector<std::string> command;
  for (const std::string& word : setting.command) command.push_back(shell_word(word));
  return fmt::format(
      R"bash(rows=({rows})
row=${{rows[index - {first}]}}
[ -n "$row" ] || exit 0
cd {folder} || exit 1
log=jobs/logs/{what}-$row.log
exec >>"$log" 2>&1
start="{what} $row: job $job, task $index"
: "${{restarts:=$(grep -cF "$start on " "$log")}}"
echo "$start on $(uname -n), restart $restarts, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
export SOFTALIGN_JOB="{array}/$job/$index" SOFTALIGN_SCHEDULER={scheduler}
{setup}launch {command} --{what} "$row" --threads {cpus}
status=$?
if [ "$status" -eq 75 ]; then  # stopped with its state saved, as before a time limit
  if [ "$restarts" -lt {max_restarts} ]; then
    echo "{what} $row: interrupted, to be started again"
    restart && exit 0
  else
    echo "{what} $row: interrupted after $restarts restarts; softalign sweep submit resumes it"
    status=1  # 75 means another start to some schedulers
  fi
fi
exit "$status")bash",
      fmt::arg("rows", fmt::join(rows, " ")),
      fmt::arg("first", setting.scheduler.first_index),
      fmt::arg("folder", shell_word(setting.folder.string())),
      fmt::arg("what", setting.what),
      fmt::arg("array", array_name(script)),
      fmt::arg("scheduler", shell_word(setting.scheduler.name)),
      fmt::arg("setup", setup),
      fmt::arg("cpus", r.cpus),
      fmt::arg("command", fmt::join(command, " ")),
      fmt::arg("max_restarts", r.max_restarts));
}

Placeholders placeholders(const SubmitSetting& setting,
                          const std::vector<Index>& rows,
                          const std::string& script) {
  const Resources& r = setting.resources.values;
  const Scheduler& scheduler = setting.scheduler;
  const Index tasks = std::max(std::ssize(rows), scheduler.fewest);
  const Index limit = r.time ? limit_seconds(*r.time).value_or(0) : 0;  // 0: none
  std::string options;
  for (const std::string& option : r.options) options += option + "\n";
  return {
      {"name", setting.sweep},
      {"array", array_name(script)},
      {"script", script},
      {"first", fmt::format("{}", scheduler.first_index)},
      {"last", fmt::format("{}", scheduler.first_index + tasks - 1)},
      {"cpus", fmt::format("{}", r.cpus)},
      {"tasks", fmt::format("{}", r.tasks)},
      {"slots", fmt::format("{}", r.tasks * r.cpus)},
      {"ranks", r.tasks > 1 ? fmt::format("{}", r.tasks) : ""},
      {"memory", text_of(r.memory)},
      {"time", limit > 0 ? clock_text(limit) : ""},
      {"minutes", limit > 0 ? fmt::format("{}", (limit + 59) / 60) : ""},
      {"work_seconds", limit > 0 ? fmt::format("{}", std::max<Index>(1, limit - r.notice)) : ""},
      {"notice", fmt::format("{}", r.notice)},
      {"partition", text_of(r.partition)},
      {"account", text_of(r.account)},
      {"qos", text_of(r.qos)},
      {"concurrent", text_of(r.concurrent)},
      {"options", options},
      {"work", work_lines(setting, rows, script)}};
}

// Returns whether the templates of every scheduler should pass this resource.
bool is_resource(const std::string& name) {
  return name == "partition" || name == "account" || name == "qos" || name == "memory" ||
         name == "concurrent";
}

std::string script_name(std::size_t number) { return fmt::format("jobs/array-{:03}.sh", number); }

}  // namespace

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

std::vector<SubmittedArray> submitted_arrays(const fs::path& sweep_folder) {
  const fs::path file = ListFolder{sweep_folder}.submitted();
  if (!fs::exists(file)) return {};
  try {
    return from_stored_text<std::vector<SubmittedArray>>(read_file(file));
  } catch (const DataError&) {
    throw DataError("{}: damaged; it only lists submissions, so move it away", file.string());
  }
}

Jobs::Jobs(fs::path sweep_folder, std::string own)
    : folder_(std::move(sweep_folder)),
      own_(own.empty() ? environment_variable("SOFTALIGN_SCHEDULER") : std::move(own)),
      arrays_(submitted_arrays(folder_)) {}

const Jobs::Known* Jobs::known(const std::string& name) {
  const auto [at, first] = schedulers_.try_emplace(name);
  const bool is_file = name.find_first_of("/.") != name.npos;
  if (first && (!is_file || (!own_.empty() && name == whole_path(own_).string()))) {
    try {
      Scheduler scheduler = Scheduler::read(name);
      std::string cluster = scheduler.ask_cluster(folder_);
      at->second = Known{std::move(scheduler), std::move(cluster)};
    } catch (const Error&) {  // this scheduler is not available
    }
  }
  return at->second ? &*at->second : nullptr;
}

bool Jobs::is_mine(const SubmittedArray& array) {
  const Known* const is = array.user == user_name() ? known(array.scheduler) : nullptr;
  return is && is->cluster == array.cluster;
}

std::vector<Index> Jobs::ask(const SubmittedArray& array) {
  const std::set<Index> tasks =
      known(array.scheduler)->scheduler.waiting(array_name(array.script), array.job, folder_);
  std::vector<Index> rows;
  for (std::size_t i = 0; i < array.rows.size(); ++i)
    if (tasks.contains(array.first_index + static_cast<Index>(i))) rows.push_back(array.rows[i]);
  return rows;
}

std::optional<std::vector<Index>> Jobs::queued(const SubmittedArray& array) {
  if (!is_mine(array)) return std::nullopt;
  const auto [at, first] = queued_.try_emplace(array.script);
  if (first) {
    try {
      at->second = ask(array);
    } catch (const MachineError&) {  // the state remains unknown
    }
  }
  return at->second;
}

void Jobs::cancel(const SubmittedArray& array) {
  const Scheduler& scheduler = known(array.scheduler)->scheduler;
  const ProgramOutcome outcome =
      scheduler.run(scheduler.cancel,
                    {{"array", array_name(array.script)}, {"job", shell_word(array.job)}},
                    folder_);
  if (!outcome.succeeded())
    throw MachineError(
        "{}: cannot cancel job {}: {}", scheduler.name, array.job, words_of(outcome));
}

std::string Jobs::proof(const Owner& owner) {
  if (std::string proof = proof_of_death(owner); !proof.empty()) return proof;
  const std::string& job = owner.job;  // "array-001/12/3"
  const std::size_t first = job.find('/'), last = job.rfind('/');
  if (is_seen_alive(owner) || first == last) return {};
  const std::string id = job.substr(first + 1, last - first - 1);
  const auto array = std::ranges::find_if(arrays_, [&](const SubmittedArray& a) {
    return array_name(a.script) == job.substr(0, first) && a.job == id;
  });
  if (array == arrays_.end()) return {};
  Index index = -1;
  std::from_chars(job.data() + last + 1, job.data() + job.size(), index);
  const Index task = index - array->first_index;
  if (task < 0 || task >= std::ssize(array->rows)) return {};
  const auto rows = queued(*array);
  return rows && !std::ranges::binary_search(*rows, array->rows[usize(task)])
             ? fmt::format("{} is gone: {} has ended its job", owner.str(), array->scheduler)
             : "";
}

LivenessCheck liveness_of(const fs::path& sweep_folder) {
  struct Asked {
    std::optional<Jobs> jobs;
    std::chrono::steady_clock::time_point when = {};
  };
  return [sweep_folder, state = std::make_shared<Asked>()](const Owner& owner) -> std::string {
    if (std::string proof = proof_of_death(owner); !proof.empty() || owner.job.empty())
      return proof;
    const auto now = std::chrono::steady_clock::now();
    if (!state->jobs || now - state->when > std::chrono::minutes(1)) {
      state->when = now;
      try {
        state->jobs.emplace(sweep_folder);
      } catch (const Error&) {  // the jobs are unknown
        return {};
      }
    }
    return state->jobs->proof(owner);
  };
}

std::string array_script(const SubmitSetting& setting,
                         const std::vector<Index>& rows,
                         const std::string& script) {
  return expand(
      setting.scheduler.script, placeholders(setting, rows, script), setting.scheduler.name);
}

Submission submit(const SubmitSetting& setting,
                  const std::vector<Index>& rows,
                  bool dry_run,
                  FileSystem& files) {
  const Scheduler& scheduler = setting.scheduler;
  const ListFolder place{setting.folder};
  Jobs jobs(setting.folder, scheduler.name);
  Submission submission;
  std::string cluster;
  bool answers = true;
  try {
    cluster = scheduler.ask_cluster(setting.folder);
    for (const SubmittedArray& array : jobs.arrays()) {
      if (!jobs.is_mine(array)) continue;
      std::vector<Index> left;
      std::ranges::set_intersection(array.rows, rows, std::back_inserter(left));
      if (!left.empty())
        std::ranges::set_intersection(jobs.ask(array), rows, std::back_inserter(submission.queued));
    }
  } catch (const MachineError& error) {
    if (!dry_run) throw;
    answers = false;
    submission.notes.push_back(
        fmt::format("rows that are queued may be among these: {}", error.what()));
  }
  std::ranges::sort(submission.queued);
  submission.queued.erase(std::ranges::unique(submission.queued).begin(), submission.queued.end());
  std::vector<Index> wanted;
  std::ranges::set_difference(rows, submission.queued, std::back_inserter(wanted));
  submission.arrays =
      arrays_of(wanted,
                std::min(scheduler.array_size,
                         setting.resources.values.array_size.value_or(scheduler.array_size)));
  std::size_t first = jobs.arrays().size() + 1;
  while (is_there(setting.folder / script_name(first))) ++first;  // left by a killed submission
  for (std::size_t i = 0; i < submission.arrays.size(); ++i)
    submission.scripts.push_back(
        array_script(setting, submission.arrays[i], script_name(first + i)));
  if (submission.arrays.empty()) return submission;
  for (const auto& [name, value] : placeholders(setting, submission.arrays.front(), ""))
    if (!value.empty() && is_resource(name) &&
        (scheduler.script + scheduler.submit).find("{" + name + "}") == std::string::npos)
      submission.notes.push_back(fmt::format("{} does not use {}", scheduler.name, name));
  if (!scheduler.check.empty() && answers) {
    const ProgramOutcome outcome =
        scheduler.run(scheduler.check, {}, setting.folder, submission.scripts.front());
    if (!outcome.succeeded())
      throw SpecError("{}: {} refuses the {}s of this sweep: {}",
                      setting.resources.where.str(),
                      scheduler.name,
                      setting.what,
                      words_of(outcome));
  }
  if (dry_run) return submission;

  check_names_in(place);
  files.make_folders(place.job_logs());
  const FolderLock lock(place.jobs());
  std::vector<SubmittedArray> known = submitted_arrays(setting.folder);
  if (known.size() != jobs.arrays().size())
    throw MachineError("{}: another process is submitting this sweep; nothing was submitted",
                       setting.folder.string());
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    const std::vector<Index>& array = submission.arrays[i];
    const std::string script = script_name(first + i);
    files.write_atomically(setting.folder / script, submission.scripts[i]);
    const ProgramOutcome outcome =
        scheduler.run(scheduler.submit, placeholders(setting, array, script), setting.folder);
    if (!outcome.succeeded())
      throw MachineError(
          "{} does not take {}s {}: {}{}",
          scheduler.name,
          setting.what,
          ranges_text(array),
          words_of(outcome),
          i == 0
              ? ""
              : fmt::format(
                    "; {} of {} job arrays are submitted; run the same command again for the rest",
                    i,
                    submission.arrays.size()));
    submission.jobs.push_back(scheduler.job_in(outcome.output));
    known.push_back({scheduler.name,
                     cluster,
                     user_name(),
                     script,
                     submission.jobs.back(),
                     scheduler.first_index,
                     array,
                     utc_time(unix_time())});
    files.write_atomically(place.submitted(), stored_text(known));
  }
  return submission;
}

}  // namespace softalign
