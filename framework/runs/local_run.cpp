#include "framework/runs/local_run.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <thread>

#include "framework/base/machine.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/claim.hpp"
#include "framework/runs/worker_process.hpp"

namespace softalign {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRestarts = 2;

class LocalRun {
 public:
  LocalRun(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher)
      : list_(list), options_(options), watcher_(watcher), begun_(list.rows.size(), 0) {
    for (const ListedRun& row : list.rows) status_.push_back(row_status(list, row));
  }

  bool run() {
    check_places(list_.place());
    for (const ListedRun& row : list_.rows) check_places(list_.place(), row.run_id, row.below);
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

  // The next row that may be begun. What others have done since is read from its files.
  std::optional<std::size_t> next() {
    for (std::size_t i = 0; i < list_.rows.size(); ++i) {
      if (begun_[i] > 0 || !wanted(i)) continue;
      if (is_over(status_[i].state) && !options_.begin.contains(status_[i].state)) continue;
      if (is_worked_on(status_[i].state) && Clock::now() - looked_ < std::chrono::seconds(1))
        continue;
      status_[i] = row_status(list_, list_.rows[i]);
      if (options_.begin.contains(status_[i].state)) return i;
    }
    if (Clock::now() - looked_ >= std::chrono::seconds(1)) looked_ = Clock::now();
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
    watcher_.row_began(row);
  }

  std::string why_lost(const ListedRun& row) const {
    try {
      if (const auto owner = newest_claim(list_.run(row))) return proof_of_death(*owner);
    } catch (const Error&) {
    }
    return "nobody works on it any more";
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
    status_[i] = row_status(list_, row);
    RowStatus& status = status_[i];
    const bool stopping = watcher_.stop_requested();
    const bool unfinished = !is_over(status.state) && !is_worked_on(status.state);
    if (is_worked_on(status.state)) {
      begun_[i] = 0;  // another process was faster: looked at again later
      watcher_.message(fmt::format("row {}: {} works on it", row.k, status.owner));
      return;
    }
    // One that was asked to stop before it could listen has nothing to save.
    if (unfinished && end.signal != 0 && !(stopping && end.signal == SIGTERM)) {
      const bool again = !stopping && begun_[i] <= kMostRestarts;
      watcher_.message(fmt::format("row {}: its worker was killed (signal {}){}",
                                   row.k,
                                   end.signal,
                                   again ? "; going on with it" : ""));
      if (again) return begin(i);
    }
    if (unfinished && status.state != RunState::failed && !stopping &&
        end.status == static_cast<int>(ExitCode::interrupted) && begun_[i] <= kMostRestarts) {
      watcher_.message(
          fmt::format("row {}: its worker was asked to stop; going on with it", row.k));
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

  // Whether a process that can be seen from here works on a row that is wanted.
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

}  // namespace softalign
