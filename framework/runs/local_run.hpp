// Runs a list on this machine: worker processes, the progress of their rows, and the training of one row.
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

// The progress of a run that another process trains, from its growing journal.
class RowProgress {
 public:
  RowProgress(RunFolder run, std::string metric)
      : run_(std::move(run)), metric_(std::move(metric)) {}

  void look();  // reads the new part of the journal

  Index update() const { return update_; }
  Index updates() const { return updates_; }  // 0: unknown
  double value() const { return value_; }     // newest dev metric; NaN: none yet
  double seconds_per_update() const;          // NaN: unknown
  // used: the share of the updates that is expected before training stops early. NaN: unknown.
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

// The exit status if the program or one of its libraries is missing, for example while it is built.
inline constexpr int kNotThere = 127;

// The end of a process: an exit status, or the signal that killed it.
struct ProcessEnd {
  int status = 0;
  int signal = 0;  // 0: not killed
};

// One worker process: a program with its output in a log file.
class WorkerProcess {
 public:
  // Output is appended to `log`, which must not be a link. The worker gets SIGTERM when this process dies. Throws
  // MachineError, and the errors of check_file_type.
  WorkerProcess(const std::vector<std::string>& command, const std::filesystem::path& log);
  // Kills the process if it still runs.
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept : pid_(other.pid_), began_(other.began_) {
    other.pid_ = -1;
  }
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  std::optional<ProcessEnd> ended();  // empty while it runs
  void ask_to_stop();                 // SIGTERM
  double seconds() const;             // since its start

 private:
  pid_t pid_ = -1;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

struct ActiveRow {
  const ListedRun* row = nullptr;
  RowProgress progress;
};

// Receives events: `row_began` and `row_ended` once for each process that works on a row.
class ListWatcher {
 public:
  virtual ~ListWatcher() = default;
  virtual void message(std::string_view) {}
  virtual void row_began(const ListedRun&, bool /*resumed*/) {}
  virtual void row_ended(const ListedRun&, const RowStatus&, double /*seconds*/) {}
  // Called about ten times a second.
  virtual void tick(const std::vector<ActiveRow>&, const std::vector<RowStatus>& /*[rows]*/) {}
  virtual bool stop_requested() { return false; }
};

struct LocalRunOptions {
  // The command of a worker for row k: these words, then "--row", k.
  std::vector<std::string> command;
  int workers = 1;
  // Rows in one of these states are started; others are skipped.
  std::set<RunState> begin = {
      RunState::planned, RunState::interrupted, RunState::trained, RunState::lost};
  std::vector<Index> rows = {};  // only these; empty: all
};

// Runs a list's rows in worker processes. The remaining rows are read from files, so several processes may call
// this at once, on any machine, and any of them may be killed. Returns when no row is left that can be run from
// here. A killed worker is started again, at most twice per row. Waits for rows of other processes on this
// machine, and takes them over if their process dies. Workers save and stop on request, and when this process
// dies. Returns whether a stop was requested.
bool run_locally(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher);

struct WorkOptions {
  SizeCheck sizes = {};
  int threads = 1;
  Ranks* ranks = nullptr;  // processes that share the row and all call work_on; null: only this one
  bool steal = false;
  bool force = false;        // restart even a complete row
  bool never_prune = false;  // train to the end, without the sweep's rule
  AskOutside ask = {};       // in place of the sweep's rule
};

// Trains or resumes a row, from the plan to its record: the work of every worker, on this machine or as a task of
// a job array. A row that is complete, or pruned and not promoted, is skipped. Throws the errors of run_experiment;
// errors that would recur are stored in the row's failure file. Only the first rank knows the outcome.
ExperimentOutcome work_on(const RunList& list,
                          const ListedRun& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer);

}  // namespace softalign
