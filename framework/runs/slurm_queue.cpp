#include "framework/runs/slurm_queue.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/config/value.hpp"

namespace softalign {
namespace {

Index number(std::string_view text, Index otherwise) {
  Index value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

// The state in which a job is over and none of its processes is left (squeue(1), job state codes).
bool is_over(const std::string& state) {
  constexpr std::string_view kOver[] = {"BOOT_FAIL",
                                        "CANCELLED",
                                        "COMPLETED",
                                        "DEADLINE",
                                        "FAILED",
                                        "NODE_FAIL",
                                        "OUT_OF_MEMORY",
                                        "PREEMPTED",
                                        "REVOKED",
                                        "TIMEOUT"};
  return std::find(std::begin(kOver), std::end(kOver), state) != std::end(kOver);
}

std::optional<std::vector<SlurmTask>> ask_squeue(const std::string& which) {
  const ProgramOutcome outcome =
      run_program({"squeue",
                   "--noheader",
                   "--array",
                   "--states=all",
                   which,
                   "--Format=ArrayJobID:20 ,ArrayTaskID:20 ,State:20 ,RestartCnt:12 ,Name:200"});
  // What squeue says of a job that has been over for some minutes (MinJobAge).
  if (outcome.error.find("Invalid job id") != outcome.error.npos) return std::vector<SlurmTask>{};
  if (!outcome.succeeded()) return std::nullopt;
  std::vector<SlurmTask> tasks;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    SlurmTask task;
    std::string array, index, restarts;
    if (!(fields >> array >> index >> task.state >> restarts)) continue;
    fields >> task.name;
    task.job = index == "N/A" ? array : array + "_" + index;
    task.restarts = number(restarts, 0);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::string my_name() {
  const passwd* const entry = getpwuid(geteuid());
  return entry ? entry->pw_name : "";
}

}  // namespace

SlurmConfig SlurmConfig::ask() {
  const ProgramOutcome outcome = run_program({"scontrol", "show", "config"});
  if (!outcome.found())
    throw MachineError(
        "there is no Slurm here (scontrol is not on PATH); softalign sweep run works "
        "on the sweep without it");
  const std::string_view error = trimmed(outcome.error);
  if (!outcome.succeeded())
    throw MachineError("Slurm does not answer: {}",
                       outcome.timed_out ? "scontrol show config took more than a minute"
                                         : printable(error.substr(error.rfind('\n') + 1), 500));
  return parse(outcome.output);
}

SlurmConfig SlurmConfig::parse(const std::string& text) {
  SlurmConfig config;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const std::string_view key = trimmed(std::string_view(line).substr(0, equals));
    const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
    if (key == "ClusterName") config.cluster = value;
    if (key == "MaxArraySize") config.max_array_size = number(value, config.max_array_size);
    if (key == "PrivateData") config.private_jobs = value.find("jobs") != value.npos;
    constexpr std::string_view kTasks = "max_array_tasks=";
    if (const std::size_t at = value.find(kTasks);
        key == "SchedulerParameters" && at != value.npos) {
      const std::string_view rest = value.substr(at + kTasks.size());
      config.max_tasks = std::max<Index>(1, number(rest.substr(0, rest.find(',')), 1));
    }
  }
  return config;
}

bool SlurmTask::may_run() const { return !is_over(state); }

std::optional<std::vector<SlurmTask>> slurm_tasks_of(const std::string& job) {
  return ask_squeue("--jobs=" + job);
}

std::optional<std::vector<SlurmTask>> my_slurm_tasks() { return ask_squeue("--me"); }

const std::optional<SlurmConfig>& SlurmWitness::config() {
  if (!config_) {
    try {
      config_ = SlurmConfig::ask();
    } catch (const MachineError&) {
      config_ = std::optional<SlurmConfig>();
    }
  }
  return *config_;
}

const std::optional<std::vector<SlurmTask>>& SlurmWitness::tasks_of(const std::string& array) {
  const auto [at, first] = tasks_.try_emplace(array);
  if (first && config()) at->second = slurm_tasks_of(array);
  return at->second;
}

std::optional<bool> SlurmWitness::alive(const std::string& job) {
  const auto& tasks = tasks_of(job.substr(0, job.find('_')));
  if (!tasks) return std::nullopt;
  return std::any_of(tasks->begin(), tasks->end(), [&](const SlurmTask& task) {
    return task.job == job && task.may_run();
  });
}

std::string SlurmWitness::operator()(const Owner& owner) {
  if (std::string proof = proof_of_death(owner); !proof.empty()) return proof;
  if (is_seen_alive(owner) || owner.slurm_job.empty() || owner.slurm_cluster.empty()) return {};
  const Owner self = Owner::self();
  const bool same_job =
      owner.slurm_job == self.slurm_job && owner.slurm_cluster == self.slurm_cluster;
  if (same_job && self.slurm_restarts > owner.slurm_restarts)
    return fmt::format("{} is gone: Slurm has started the job again since", owner.str());
  if (!config() || config()->cluster != owner.slurm_cluster) return {};
  if (config()->private_jobs && owner.slurm_user != my_name()) return {};
  const auto& tasks = tasks_of(owner.slurm_job.substr(0, owner.slurm_job.find('_')));
  if (!tasks) return {};
  const auto task = std::find_if(
      tasks->begin(), tasks->end(), [&](const SlurmTask& t) { return t.job == owner.slurm_job; });
  if (task == tasks->end())
    return fmt::format("{} is gone: Slurm has that job no more", owner.str());
  if (!task->may_run())
    return fmt::format("{} is gone: Slurm says {}", owner.str(), printable(task->state));
  if (task->restarts > owner.slurm_restarts)
    return fmt::format("{} is gone: Slurm has started the job again since", owner.str());
  return {};
}

}  // namespace softalign
