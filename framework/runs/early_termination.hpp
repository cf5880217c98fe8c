// Rules that stop a sweep's runs early. After each dev evaluation a run writes its metric into its
// own folder, reads the values that the other runs of the sweep have published so far, and decides.
// As these depend on the order of the runs, each decision is stored with the values that it was
// based on, and a resumed or verified run follows it.
//
// * asha (Li et al. 2020, asynchronous successive halving): rungs at min_updates * eta^i. A run that
//   reaches a rung continues if it is among the best max(1, n / eta) of the n runs that have reached
//   it so far. A stopped run resumes once it is among them (promotion in the paper).
// * median (Golovin et al. 2017): from min_updates on, a run stops when its best value so far is worse
//   than the median of the others' values at their last dev evaluation up to the same update. Runs
//   that have not reached it do not count; at least `startup` runs must have.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/runs/run_list.hpp"
#include "framework/train/observer.hpp"

namespace softalign {

// The file of one run, <run folder>/early_termination.json.
struct DevValue {
  Index update = 0;
  double value = 0;

  template <class V>
  void describe(V& v) {
    v("update", update);
    v("value", value);
  }
};
struct PruneDecision {
  Index update = 0;
  std::string rule;  // "asha rung 2 (9000 updates)"
  double value = 0;  // the compared value
  double cut = 0;    // the value to reach; NaN: no runs to compare with
  std::vector<std::pair<std::string, double>> compared;  // run id -> value
  bool stop = false;

  template <class V>
  void describe(V& v) {
    v("update", update);
    v("rule", rule);
    v("value", value);
    v("cut", cut);
    v("stop", stop);
    v("compared", compared);
  }
};
struct DevHistory {
  std::string metric;
  std::vector<DevValue> values;
  std::vector<PruneDecision> decisions;
  std::optional<bool> released = {};  // true: no rule stops the run

  template <class V>
  void describe(V& v) {
    v("metric", metric);
    v("values", values);
    v("decisions", decisions);
    v("released", released);
  }
};
// Reads that file. Returns an empty history if it is missing or damaged: early termination then starts again.
DevHistory read_dev_history(const std::filesystem::path& run_folder);

// Returns the reason why its run was stopped, "asha rung 0 (800 updates): dev/loss is 3.82, 3.63 was needed among 6
// runs"; empty if it was not.
std::string stop_reason(const DevHistory& history);

// Stores that no rule stops the run of this folder any more.
void release(const std::filesystem::path& run_folder);

// Returns the decisions of a rule about the last of `own` values; empty if the rule does not apply to it.
// others: run id -> its published values.
using OtherRuns = std::vector<std::pair<std::string, DevHistory>>;
std::vector<PruneDecision> decide(const EarlyTerminateOptions& rule,
                                  bool maximize,
                                  const std::string& run_id,
                                  const DevHistory& own,
                                  const OtherRuns& others);

// Returns the k of the rows that asha stopped, but would not stop with the values that the others have published
// since: they may resume. Empty if another rule, or Optuna, decides.
std::vector<Index> promoted_rows(const RunList& list);

// Decides in place of a rule: returns whether the run continues after this value (Optuna's pruners).
using AskOutside = std::function<bool(Index update, double value)>;

// Returns the pruner for run_experiment; null if there is neither a rule nor `ask`, or if the run is released. The
// pruner of a promoted run replaces the decision that had stopped it.
std::function<std::unique_ptr<Pruner>(const std::filesystem::path&)> make_pruner(
    const RunList& list, const ListedRun& row, AskOutside ask = {});

}  // namespace softalign
