// A sweep as a whole: how all its rows stand, what is wrong with any of them, and its table
// (sweep.h5). On top of the index of runs, so that ten thousand rows are looked at in a second.
#pragma once

#include <vector>

#include "framework/analysis/run_summary.hpp"
#include "framework/analysis/seeds.hpp"
#include "framework/sweep/row_state.hpp"

namespace softalign {

struct SweepStatus {
  std::vector<RowStatus> rows;                       // [rows of the plan]
  std::vector<std::optional<RunSummary>> summaries;  // [rows]; nothing where nobody has begun
  // The metric of each row at the update whose parameters it kept: with early stopping that of its
  // best dev evaluation, else the last; of a row that is not over the newest. NaN: none yet.
  std::vector<double> metric;
  // The configuration (rows that differ in nothing but the seed) whose mean metric is best, among
  // those with the most complete rows; empty before any row is complete. Seeds are not searched.
  std::vector<Index> best;
  Seeds best_metric;
};

SweepStatus sweep_status(const SweepPlan& plan);

// Writes <sweep>/sweep.h5 if it would change. Returns why it could not; that is no error, for the table
// only repeats what the runs say.
std::string write_sweep_table(const SweepPlan& plan, const SweepStatus& status);

}  // namespace softalign
