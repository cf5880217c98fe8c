#include "framework/runs/local_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <list>
#include <optional>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/runs/early_termination.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/submit.hpp"
#include "framework/train/followers.hpp"

namespace softalign {

void RowProgress::look() {
  try {
    const std::vector<Index> journals = run_.journals();
    if (journals.empty()) return;
    if (journals.back() != attempt_) {
      attempt_ = journals.back();
      tail_ = std::make_unique<JournalTail>(run_.journal(attempt_));
      first_update_ = -1;
    }
    for (const Frame& frame : tail_->next()) {
      const auto* const scalars = std::get_if<Scalars>(&frame);
      if (!scalars) continue;
      for (const auto& [name, value] : scalars->values)
        if (scalars->series + "/" + name == metric_) value_ = value;
      if (scalars->series != "train") continue;
      update_ = scalars->update;
      last_time_ = scalars->wall_time;
      if (first_update_ < 0) {
        first_update_ = update_;
        first_time_ = last_time_;
      }
    }
    if (updates_ == 0) updates_ = read_status(run_).updates;  // run_status reads the whole journal
  } catch (const Error&) {  // incomplete, corrupt or unreadable: its worker reports it
  }
}

double RowProgress::seconds_per_update() const {
  if (updates_ == 0 || update_ <= first_update_) return kUndefined;
  return (last_time_ - first_time_) / static_cast<double>(update_ - first_update_);
}

double RowProgress::seconds_left(double used) const {
  const double updates = used * static_cast<double>(updates_);
  return std::max(0.0, updates - static_cast<double>(update_)) * seconds_per_update();
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command,
                             const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  check_file_type(log, std::filesystem::file_type::regular);
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int output = open(log.c_str(), flags, 0666);
  if (output < 0)
    throw MachineError("{}: cannot be written: {}", log.string(), std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {  // after a fork only system calls are allowed
    setpgid(0, 0);  // Ctrl-C reaches only the parent, which forwards it once
    end_with_parent();
    if (getppid() != parent) _exit(1);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(kNotThere);
  }
  const int reason = errno;
  close(output);
  if (pid_ < 0) throw MachineError("cannot start a worker: {}", std::strerror(reason));
}

WorkerProcess::~WorkerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  retry([&] { return waitpid(pid_, nullptr, 0); });
}

std::optional<ProcessEnd> WorkerProcess::ended() {
  int status = 0;
  if (pid_ <= 0 || retry([&] { return waitpid(pid_, &status, WNOHANG); }) == 0) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) return ProcessEnd{0, WTERMSIG(status)};
  return ProcessEnd{WEXITSTATUS(status), 0};
}

void WorkerProcess::ask_to_stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);  // a stopped process could not save
}

double WorkerProcess::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRestarts = 2;

class LocalRun {
 public:
  LocalRun(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher)
      : list_(list),
        options_(options),
        watcher_(watcher),
        alive_(liveness_of(list.folder)),
        begun_(list.rows.size(), 0) {
    for (const ListedRun& row : list.rows) status_.push_back(row_status(list, row, alive_));
  }

  bool run() {
    check_names_in(list_.place());
    for (const ListedRun& row : list_.rows) check_names_in(list_.place(), row.run_id, row.below);
    FileSystem::real().make_folders(list_.place().logs());
    auto drawn = Clock::now();
    bool asked = false;
    while (true) {
      reap();
      const bool stopping = watcher_.stop_requested();
      if (stopping && !asked)
        for (Worker& worker : workers_) worker.process.ask_to_stop();
      asked = stopping;
      if (!stopping) fill();
      if (workers_.empty() && (stopping || !somebody_here_works())) break;
      if (Clock::now() - drawn > std::chrono::milliseconds(100)) {
        drawn = Clock::now();
        for (ActiveRow& row : active_) row.progress.look();
        watcher_.tick(active_, status_);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return asked;
  }

 private:
  struct Worker {
    std::size_t row;
    WorkerProcess process;
  };

  bool wanted(std::size_t i) const {
    const std::vector<Index>& only = options_.rows;
    return only.empty() || std::find(only.begin(), only.end(), list_.rows[i].k) != only.end();
  }

  // Returns the next row that may begin, after reading from files what other processes have done.
  std::optional<std::size_t> next() {
    for (std::size_t i = 0; i < list_.rows.size(); ++i) {
      if (begun_[i] > 0 || !wanted(i)) continue;
      if (is_over(status_[i].state) && !options_.begin.contains(status_[i].state)) continue;
      if (is_worked_on(status_[i].state) && Clock::now() - looked_ < std::chrono::seconds(1))
        continue;
      status_[i] = row_status(list_, list_.rows[i], alive_);
      if (options_.begin.contains(status_[i].state)) return i;
    }
    if (Clock::now() - looked_ < std::chrono::seconds(1)) return std::nullopt;
    looked_ = Clock::now();
    return next_promoted();
  }

  // Rows that were stopped early come last, when the values of the others are known.
  std::optional<std::size_t> next_promoted() {
    for (const Index k : promoted_rows(list_)) {
      const auto i = usize(k);
      if (begun_[i] > 0 || !wanted(i)) continue;
      status_[i] = row_status(list_, list_.rows[i], alive_);
      if (status_[i].state == RunState::pruned) return i;
    }
    return std::nullopt;
  }

  void fill() {
    while (std::ssize(workers_) < options_.workers) {
      const auto row = next();
      if (!row) return;
      begin(*row);
    }
  }

  void begin(std::size_t i) {
    const ListedRun& row = list_.rows[i];
    std::vector<std::string> command = options_.command;
    command.insert(command.end(), {"--row", fmt::format("{}", row.k)});
    if (status_[i].state == RunState::lost)
      watcher_.message(fmt::format("row {}: taken over: {}", row.k, why_lost(row)));
    ++begun_[i];
    workers_.push_back({i, WorkerProcess(command, list_.place().log(row.run_id))});
    active_.push_back({&row, RowProgress(list_.run(row), list_.metric.name)});
    const RunState state = status_[i].state;
    watcher_.row_began(
        row,
        state == RunState::interrupted || state == RunState::trained || state == RunState::lost);
  }

  std::string why_lost(const ListedRun& row) const {
    try {
      if (const auto owner = newest_claim(list_.run(row))) return alive_(*owner);
    } catch (const Error&) {
    }
    return "no process works on it";
  }

  void reap() {
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      const auto end = worker->process.ended();
      if (!end) {
        ++worker;
        continue;
      }
      const std::size_t i = worker->row;
      const double seconds = worker->process.seconds();
      worker = workers_.erase(worker);
      std::erase_if(active_, [&](const ActiveRow& a) { return a.row == &list_.rows[i]; });
      settle(i, *end, seconds);
    }
  }

  void settle(std::size_t i, const ProcessEnd& end, double seconds) {
    const ListedRun& row = list_.rows[i];
    status_[i] = row_status(list_, row, alive_);
    RowStatus& status = status_[i];
    looked_ = {};  // other rows may have been promoted
    if (status.state == RunState::pruned && end.status == 0 && end.signal == 0)
      begun_[i] = 0;  // it may be promoted later
    const bool stopping = watcher_.stop_requested();
    const bool unfinished = !is_over(status.state) && !is_worked_on(status.state);
    if (is_worked_on(status.state)) {
      begun_[i] = 0;  // another process was faster; checked again later
      watcher_.message(fmt::format("row {}: {} works on it", row.k, status.owner));
      return;
    }
    // A worker that was asked to stop before it handled signals has nothing to save.
    if (unfinished && end.signal != 0 && !(stopping && end.signal == SIGTERM)) {
      const bool again = !stopping && begun_[i] <= kMostRestarts;
      watcher_.message(fmt::format("row {}: its worker was killed (signal {}){}",
                                   row.k,
                                   end.signal,
                                   again ? "; restarted" : ""));
      if (again) return begin(i);
    }
    if (unfinished && status.state != RunState::failed && !stopping &&
        end.status == static_cast<int>(ExitCode::interrupted) && begun_[i] <= kMostRestarts) {
      watcher_.message(fmt::format("row {}: its worker was stopped; restarted", row.k));
      return begin(i);
    }
    if (unfinished && status.fault.empty() && end.status != 0 &&
        end.status != static_cast<int>(ExitCode::interrupted))
      status.fault =
          fmt::format("{}, see {}",
                      end.status == kNotThere ? "the program cannot be started (is it being built?)"
                                              : fmt::format("exit status {}", end.status),
                      list_.place().log(row.run_id).string());
    watcher_.row_ended(row, status, seconds);
  }

  // Returns whether a process on this machine works on a wanted row.
  bool somebody_here_works() {
    for (std::size_t i = 0; i < list_.rows.size(); ++i) {
      if (!wanted(i) || !is_worked_on(status_[i].state)) continue;
      try {
        const auto owner = newest_claim(list_.run(list_.rows[i]));
        if (owner && owner->boot_id == Owner::self().boot_id) return true;
      } catch (const Error&) {
      }
    }
    return false;
  }

  const RunList& list_;
  const LocalRunOptions& options_;
  ListWatcher& watcher_;
  LivenessCheck alive_;
  std::vector<RowStatus> status_;
  std::vector<int> begun_;  // processes started for a row
  std::list<Worker> workers_;
  std::vector<ActiveRow> active_;
  Clock::time_point looked_ = Clock::now() - std::chrono::hours(1);
};

}  // namespace

bool run_locally(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher) {
  return LocalRun(list, options, watcher).run();
}

ExperimentOutcome work_on(const RunList& list,
                          const ListedRun& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer) {
  Ranks& ranks = options.ranks ? *options.ranks : only_rank();
  FileSystem& files = FileSystem::real();
  const std::filesystem::path failure = list.place().failure(row.run_id);
  ExperimentOptions experiment;
  experiment.ranks = &ranks;
  experiment.threads = options.threads;
  experiment.sizes = options.sizes;
  std::optional<ResolvedSpec<Spec>> spec;
  bool pruned = false,
       writes = false;  // names are checked: errors may be stored in the folder
  // A failure before the run begins releases the other ranks.
  const auto prepare = [&] {
    agree(ranks, [&] {
      if (ranks.first()) {
        check_names_in(list.place());
        check_names_in(list.place(), row.run_id, row.below);
        writes = true;
        pruned = !options.never_prune && row_status(list, row).state == RunState::pruned &&
                 std::ranges::count(promoted_rows(list), row.k) == 0;
        if (options.never_prune)
          release(list.run(row).root);
        else
          experiment.pruner = make_pruner(list, row, options.ask);
      }
      if (!pruned) spec = row_spec(list, row, load);
      return std::string("a row");
    });
    pruned = broadcast(ranks, pruned ? "pruned" : "") == "pruned";
  };
  if (!ranks.first()) {
    prepare();
    if (!pruned) run_experiment(*spec, experiment, observer);
    return {};
  }
  try {
    prepare();
    ExperimentOutcome outcome;
    if (pruned) {
      outcome.run_id = row.run_id;
      outcome.folder = list.run(row).root;
      outcome.was_complete = outcome.pruned = true;
      return outcome;
    }
    experiment.results = list.run(row).root.parent_path().parent_path();
    experiment.elsewhere = list.folder.parent_path();
    experiment.steal = options.steal;
    experiment.force = options.force;
    experiment.proof = liveness_of(list.folder);
    outcome = run_experiment(*spec, experiment, observer);
    files.remove(failure);
    return outcome;
  } catch (const RunInUse&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (writes) {
      files.make_folders(failure.parent_path());
      files.write_atomically(failure, printable(error.what(), kWhole) + "\n");
    }
    throw;
  }
}

}  // namespace softalign
