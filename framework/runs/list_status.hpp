// The status of a list of runs and of each of its rows, derived from files alone; its table (sweep.h5); and the
// estimated duration of the remaining rows.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {

struct RowStatus : RunStatus {
  std::string fault = {};  // in one line: why the row failed, is corrupt or cannot be read
  // The newest value of the list's metric; NaN: none yet. For a row that has ended, list_status gives the value at
  // the update whose parameters were selected: with early stopping that of the best dev evaluation, else the last.
  double metric = kUndefined;
};

// Returns the status of a row; one that cannot be read is `unreadable`. Throws only std::bad_alloc. `proof` tells
// whether a process on another host has ended, for example liveness_of (submit.hpp).
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const LivenessCheck& proof = proof_of_death);
// Returns the status that `look` returns; its exceptions become a state.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const std::function<RowStatus()>& look);

// Returns the states of all rows in words: "complete", "planned", "complete as other/3f2a".
std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows);

// Rows that differ only in the seed.
struct RankedConfiguration {
  std::vector<Index> rows;
  std::vector<Index> complete;  // the complete ones among them
  Seeds metric;  // over the complete rows; if there are none, over the current values of all
};

struct ListStatus {
  std::vector<RowStatus> rows;           // [rows of the plan]
  std::vector<std::optional<Run>> runs;  // [rows]; nothing for a row that has not begun
  // Configurations with a value, best first: by the number of complete rows, then by the mean metric, then in the
  // order of the list.
  std::vector<RankedConfiguration> ranking;

  // Returns the first configuration once it has a complete row, else null.
  const RankedConfiguration* best() const {
    return ranking.empty() || ranking.front().complete.empty() ? nullptr : &ranking.front();
  }
};

// Reads the index of runs, so that ten thousand rows take about a second.
ListStatus list_status(const RunList& list);
void rank(const RunList& list, ListStatus& status);  // updates `ranking`

// Writes <sweep>/sweep.h5 if it would change. Returns the reason if that fails, or ""; a failure is not an error,
// because the table only repeats the records.
std::string write_sweep_table(const RunList& list, const ListStatus& status);

// Returns the list and its rows as JSON; with `status` also their states and the verdicts on its claims.
JsonObject list_json(const RunList& list,
                     const ListStatus* status = nullptr,
                     const std::vector<JudgedClaim>& claims = {});
// Returns {"k", "run_id", "folder", "part", "variant", "seed", "set"}.
JsonObject row_json(const RunList& list, const ListedRun& row);

// The training costs of rows: the multiplications for a sentence pair of mean length, times the number of pairs in
// all epochs.
class RowCosts {
 public:
  RowCosts(const RunList& list, LoadSpec load) : list_(list), load_(std::move(load)) {}

  // Computes costs of further rows, for a time of about `most`. Reads the data of tasks whose outline lacks its
  // size.
  void look(std::chrono::milliseconds most);
  double of(const ListedRun& row) const;  // NaN: unknown

 private:
  struct Pairs {
    double count = 0;
    double source = 0, target = 0;  // mean lengths; of images in columns
    SourceFormat source_format = Index{0};
    Index target_symbols = 0;
  };
  Pairs pairs(const Spec& spec);
  double cost(const ListedRun& row);

  const RunList& list_;
  LoadSpec load_;
  std::map<std::string, Pairs> data_;  // by task
  std::vector<double> costs_;          // of the first rows
};

// Returns the share of its updates that a complete row made before it stopped early, over all complete rows; 1 if there are none.
double used_updates(const std::vector<RowStatus>& rows);

// Estimates the seconds of a row from its cost and the rows whose seconds are known, if possible those of the same
// part.
class RowPace {
 public:
  void add(const std::string& part, double cost, double seconds);
  double seconds(const std::string& part, double cost) const;  // NaN: unknown

 private:
  struct Sum {
    double rows = 0, cost = 0, seconds = 0;
  };
  std::map<std::string, Sum> parts_;
  Sum all_;
};

}  // namespace softalign
