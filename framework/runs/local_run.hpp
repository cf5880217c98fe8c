// Works through a list of runs on this machine: worker processes, the progress of their rows, and the work on
// one row.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/runs/early_termination.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/train/experiment.hpp"

namespace softalign {

// The progress of a run that another process works on, from its journal as it grows.
class RowProgress {
 public:
  RowProgress(RunFolder run, std::string metric)
      : run_(std::move(run)), metric_(std::move(metric)) {}

  void look();  // reads what is new

  Index update() const { return update_; }
  Index updates() const { return updates_; }  // 0: not known yet
  double value() const { return value_; }  // of the metric, at the last dev evaluation; NaN: none
  double seconds_per_update() const;       // NaN: not known yet
  // used: the part of the updates that will be made, where training stops early. NaN: not known yet.
  double seconds_left(double used = 1) const;

 private:
  RunFolder run_;
  std::string metric_;  // "dev/loss"
  Index attempt_ = 0;
  std::unique_ptr<JournalTail> tail_;
  Index update_ = 0, updates_ = 0;
  Index first_update_ = -1;  // of this attempt, with the time it was recorded
  double first_time_ = 0, last_time_ = 0;
  double value_ = kUndefined;
};

// The exit status where the program or one of its libraries is missing, as while it is being built.
inline constexpr int kNotThere = 127;

// How a process ended: with an exit status, or killed by a signal.
struct ProcessEnd {
  int status = 0;
  int signal = 0;  // 0: it was not killed
};

// One worker process: a program with its output in a log file.
class WorkerProcess {
 public:
  // Output is appended to `log`, which must not be a link. The worker gets SIGTERM when this process dies. Throws
  // MachineError, and as check_file_type.
  WorkerProcess(const std::vector<std::string>& command, const std::filesystem::path& log);
  // Kills what still runs.
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept : pid_(other.pid_), began_(other.began_) {
    other.pid_ = -1;
  }
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  std::optional<ProcessEnd> ended();  // empty while it runs
  void ask_to_stop();                 // SIGTERM
  double seconds() const;             // since it began

 private:
  pid_t pid_ = -1;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

struct ActiveRow {
  const ListedRun* row = nullptr;
  RowProgress progress;
};

// Receives events. `row_began` and `row_ended` come once for each process that worked on a row.
class ListWatcher {
 public:
  virtual ~ListWatcher() = default;
  virtual void message(std::string_view) {}
  virtual void row_began(const ListedRun&, bool /*resumed*/) {}
  virtual void row_ended(const ListedRun&, const RowStatus&, double /*seconds*/) {}
  // About ten times a second.
  virtual void tick(const std::vector<ActiveRow>&, const std::vector<RowStatus>& /*[rows]*/) {}
  virtual bool stop_requested() { return false; }
};

struct LocalRunOptions {
  // A worker for row k is: these, then "--row", k.
  std::vector<std::string> command;
  int workers = 1;
  // Rows in one of these states are begun; others are skipped.
  std::set<RunState> begin = {
      RunState::planned, RunState::interrupted, RunState::trained, RunState::lost};
  std::vector<Index> rows = {};  // only these; empty: all
};

// Works through a list's rows with worker processes. What is left to do is read from files, so several
// processes may do so at once, here or elsewhere, and any of them may be killed. Returns when nothing is left
// that can be done from here. A worker that was killed is started again, at most twice a row. Rows that others
// on this machine work on are waited for, and taken over if their process dies. Workers stop, saving, when
// asked to, and when this process dies. Returns whether it was asked to stop.
bool run_locally(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher);

struct WorkOptions {
  SizeCheck sizes = {};
  int threads = 1;
  Ranks* ranks =
      nullptr;  // the processes that share the row, all of which call work_on; null: this one alone
  bool steal = false;
  bool force = false;        // restart, even if it is complete
  bool never_prune = false;  // go to the end, whatever the sweep's rule says
  AskOutside ask = {};       // instead of the sweep's rule
};

// Trains or resumes a row, from the plan to its record: what every worker does, on this machine or as a task of
// a job array. A row that is complete, or pruned and not promoted, is left as it is. Throws what
// run_experiment throws; errors that would come again are kept in the row's failure file. Only the first rank knows the outcome.
ExperimentOutcome work_on(const RunList& list,
                          const ListedRun& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer);

}  // namespace softalign
