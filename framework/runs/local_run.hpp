// Works through a list's rows with worker processes on this machine. What is left to do is read
// from files, so several may do so at once, here or elsewhere, and any of them may be killed.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "framework/runs/row_progress.hpp"
#include "framework/runs/row_status.hpp"

namespace softalign {

struct ActiveRow {
  const ListedRun* row = nullptr;
  RowProgress progress;
};

// Told what happens. `row_began` and `row_ended` come once for each process that worked on a row.
class ListWatcher {
 public:
  virtual ~ListWatcher() = default;
  virtual void message(std::string_view) {}
  virtual void row_began(const ListedRun&) {}
  virtual void row_ended(const ListedRun&, const RowStatus&, double /*seconds*/) {}
  // About ten times a second.
  virtual void tick(const std::vector<ActiveRow>&, const std::vector<RowStatus>& /*[rows]*/) {}
  virtual bool stop_requested() { return false; }
};

struct LocalRunOptions {
  // A worker for row k is: these, then "--row", k.
  std::vector<std::string> command;
  int workers = 1;
  // Rows in one of these states are begun; others are left alone.
  std::set<RunState> begin = {
      RunState::planned, RunState::interrupted, RunState::trained, RunState::lost};
  std::vector<Index> rows = {};  // only these; empty: all
};

// Returns when nothing is left that can be done from here. A worker that was killed is started
// again, at most twice a row. Rows that others on this machine work on are waited for, and taken
// over if their process dies. Workers stop, saving, when asked to, and when this process dies.
// Returns whether it was asked to stop.
bool run_locally(const RunList& list, const LocalRunOptions& options, ListWatcher& watcher);

}  // namespace softalign
