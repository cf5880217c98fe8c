// The status of a list of runs and of each of its rows, derived from files alone; its table (sweep.h5); and how
// long the rows that are still to come will take.
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
  std::string fault = {};  // in one line: why it failed, what is corrupt, or why it cannot be read
  // The list's metric, as newest; NaN: none yet. From list_status, of a row that is over, at the update
  // whose parameters it kept: with early stopping that of its best dev evaluation, else the last.
  double metric = kUndefined;
};

// A row that cannot be read is unreadable; nothing is thrown but std::bad_alloc. `proof` tells lost from slow
// where other hosts work on the list: liveness_of (submit.hpp), for one.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const LivenessCheck& proof = proof_of_death);
// The status that `look` finds, which may throw.
RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const std::function<RowStatus()>& look);

// The states of all rows as people read them: "complete", "planned", "complete as other/3f2a".
std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows);

// The list as a whole, from the index of runs, so that ten thousand rows are looked at in a second.

// Rows that differ in nothing but the seed.
struct RankedConfiguration {
  std::vector<Index> rows;
  std::vector<Index> complete;  // of them
  Seeds metric;  // over the complete ones; where there are none, over what others have
};

struct ListStatus {
  std::vector<RowStatus> rows;           // [rows of the plan]
  std::vector<std::optional<Run>> runs;  // [rows]; nothing where nobody has begun
  // Configurations with a value, the best first: more complete rows before fewer, then by the mean metric; of
  // equals the first of the list. Seeds are not searched.
  std::vector<RankedConfiguration> ranking;

  // The first, once a row is complete.
  const RankedConfiguration* best() const {
    return ranking.empty() || ranking.front().complete.empty() ? nullptr : &ranking.front();
  }
};

ListStatus list_status(const RunList& list);
void rank(const RunList& list, ListStatus& status);  // recomputed after a change of the status

// Writes <sweep>/sweep.h5 if it would change. Returns why it could not; this is not an error, because the table
// only repeats the records.
std::string write_sweep_table(const RunList& list, const ListStatus& status);

// The list and its rows; with `status` also their states and the verdicts on its claims.
JsonObject list_json(const RunList& list,
                     const ListStatus* status = nullptr,
                     const std::vector<JudgedClaim>& claims = {});
// {"k", "run_id", "folder", "part", "variant", "seed", "set"}.
JsonObject row_json(const RunList& list, const ListedRun& row);

// The cost of each row's training: the multiplications of a sentence pair of mean length, for all pairs of all
// epochs.
class RowCosts {
 public:
  RowCosts(const RunList& list, LoadSpec load) : list_(list), load_(std::move(load)) {}

  // Computes costs of further rows for about `most`. Reads the data of a task that does not say
  // how much there is.
  void look(std::chrono::milliseconds most);
  double of(const ListedRun& row) const;  // NaN: not known

 private:
  struct Pairs {
    double count = 0;
    double source = 0, target = 0;  // mean lengths; of images, in columns
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

// The seconds that rows of a cost take, from rows whose seconds are known: those of the same part where there
// are some.
class RowPace {
 public:
  void add(const std::string& part, double cost, double seconds);
  double seconds(const std::string& part, double cost) const;  // NaN: nothing is known

 private:
  struct Sum {
    double rows = 0, cost = 0, seconds = 0;
  };
  std::map<std::string, Sum> parts_;
  Sum all_;
};

}  // namespace softalign
