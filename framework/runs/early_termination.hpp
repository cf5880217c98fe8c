// Rules that stop a sweep's runs early. After each dev evaluation a run writes its metric into its
// own folder, looks at what the other runs of the sweep have published there so far, and decides.
// What the others have by then depends on who ran when: so each decision is kept, with all that it
// was made from, and a resumed or verified run follows it.
//
// * asha (Li et al. 2020, asynchronous successive halving): rungs at min_updates * eta^i. A run that
//   reaches a rung continues when it is among the best n / eta, at least one, of the n runs that have
//   reached it so far. One that was stopped resumes once it is among them (their promotion).
// * median (Golovin et al. 2017): from min_updates on, a run stops when its best value so far is worse
//   than the median of what the others had at their last dev evaluation up to the same update; those
//   that are not there yet do not count, and there must be `startup` of them.
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
  double value = 0;  // what was compared
  double cut = 0;    // what it had to reach; NaN: there was nothing to compare with
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
  std::optional<bool> released = {};  // true: the run goes to its end, whatever a rule says

  template <class V>
  void describe(V& v) {
    v("metric", metric);
    v("values", values);
    v("decisions", decisions);
    v("released", released);
  }
};
// Reads that file; empty if it is missing or damaged: early termination then starts again.
DevHistory read_dev_history(const std::filesystem::path& run_folder);

// Why its run was stopped: "asha rung 0 (800 updates): dev/loss is 3.82, 3.63 was needed among 6 runs"; empty if it
// was not.
std::string stop_reason(const DevHistory& history);

// From now on no rule stops the run of this folder.
void release(const std::filesystem::path& run_folder);

// The decision of a rule for the last of `own` values; nothing where the rule has none to make.
// others: run id -> what it has published.
using OtherRuns = std::vector<std::pair<std::string, DevHistory>>;
std::vector<PruneDecision> decide(const EarlyTerminateOptions& rule,
                                  bool maximize,
                                  const std::string& run_id,
                                  const DevHistory& own,
                                  const OtherRuns& others);

// The k of the rows that asha stopped and would not stop now, with what the others have published since: they
// may resume. None where another rule, or Optuna, decides.
std::vector<Index> promoted_rows(const RunList& list);

// Asked instead of a rule: returns whether the run continues after this value (optuna's pruners).
using AskOutside = std::function<bool(Index update, double value)>;

// For run_experiment; null when the plan stops nothing early and nobody is asked, or the run is released. The
// pruner of a run that was promoted replaces the decision to stop it.
std::function<std::unique_ptr<Pruner>(const std::filesystem::path&)> make_pruner(
    const RunList& list, const ListedRun& row, AskOutside ask = {});

}  // namespace softalign
