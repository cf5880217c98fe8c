// A list of runs as a whole: how all its rows stand, what is wrong with any of them, and its table
// (sweep.h5). On top of the index of runs, so that ten thousand rows are looked at in a second.
#pragma once

#include <vector>

#include "framework/analysis/run_summary.hpp"
#include "framework/analysis/seeds.hpp"
#include "framework/runs/row_status.hpp"

namespace softalign {

// Rows that differ in nothing but the seed.
struct RankedConfiguration {
  std::vector<Index> rows;
  std::vector<Index> complete;  // of them
  Seeds metric;  // over the complete ones; where there are none, over what others have
};

struct ListStatus {
  std::vector<RowStatus> rows;                       // [rows of the plan]
  std::vector<std::optional<RunSummary>> summaries;  // [rows]; nothing where nobody has begun
  // The metric of each row at the update whose parameters it kept: with early stopping that of its
  // best dev evaluation, else the last; of a row that is not over the newest. NaN: none yet.
  std::vector<double> metric;
  // Those with a value, the best first: more complete rows before fewer, then by the mean metric; of
  // equals the first of the list. Seeds are not searched.
  std::vector<RankedConfiguration> ranking;

  // The first, once a row is complete.
  const RankedConfiguration* best() const {
    return ranking.empty() || ranking.front().complete.empty() ? nullptr : &ranking.front();
  }
};

ListStatus list_status(const RunList& list);
void rank(const RunList& list, ListStatus& status);  // anew, after something was changed in it

// Writes <sweep>/sweep.h5 if it would change. Returns why it could not; that is no error, for the table
// only repeats what the runs say.
std::string write_sweep_table(const RunList& list, const ListStatus& status);

}  // namespace softalign
