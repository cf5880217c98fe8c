// A sweep as people watch it: one line a row, and how much is left.
#pragma once

#include <string>
#include <vector>

#include "framework/app/terminal/table.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/row_costs.hpp"

namespace softalign::app {

// "23 complete, 2 running, 35 planned".
std::string counts_text(const std::vector<RowStatus>& rows);

// A value of the list's metric, with the digits that rows of a sweep differ in: "1.8302".
std::string value_text(const RunList& list, double value);

struct SweepRows {
  std::vector<RowStatus> status;  // [rows of the plan]
  std::vector<double> metric;     // [rows], or none: the last that each status knows
  std::vector<Index> best;        // to be marked
};

// Every row with its parameters, state, updates and metric; "*" marks the best. `active` knows more
// of those that are worked on. At most `lines` rows, those that are worked on among them; 0: all.
std::string sweep_table(const RunList& list,
                        const SweepRows& rows,
                        const std::vector<ActiveRow>& active,
                        std::size_t columns,
                        std::size_t lines);

// Watches a local run: on a terminal a table that refreshes in place, else a line when a row begins
// or ends.
class SweepDisplay : public ListWatcher {
 public:
  SweepDisplay(const RunList& list, int workers, LoadSpec load);
  ~SweepDisplay() override { clear(); }
  SweepDisplay(const SweepDisplay&) = delete;
  SweepDisplay& operator=(const SweepDisplay&) = delete;

  void message(std::string_view text) override;
  void row_began(const ListedRun& row) override;
  void row_ended(const ListedRun& row, const RowStatus& status, double seconds) override;
  void tick(const std::vector<ActiveRow>& active, const std::vector<RowStatus>& rows) override;
  bool stop_requested() override;
  void clear();

 private:
  std::string cleared();  // what takes the table away
  using Clock = std::chrono::steady_clock;
  std::string total_text(const std::vector<ActiveRow>& active,
                         const std::vector<RowStatus>& rows) const;

  const RunList& list_;
  int workers_;
  bool terminal_;
  std::size_t lines_ = 0;  // that stand on the terminal and are drawn over
  bool stopping_ = false;
  Clock::time_point drawn_;
  RowCosts costs_;
  std::vector<std::pair<const ListedRun*, double>>
      ended_;  // rows that ran to their end here, seconds
};

}  // namespace softalign::app
