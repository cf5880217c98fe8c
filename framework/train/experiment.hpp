// An experiment from its spec to its record: what `softalign run` does, without a terminal.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "framework/base/ranks.hpp"
#include "framework/config/spec.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/observer.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct ExperimentOptions {
  std::filesystem::path results = "results";
  int threads = 0;     // 0: as many as the machine has, at most one for four sentences of a batch
  bool force = false;  // run again although the run is complete
  bool steal = false;  // take over from an owner who may be alive
  bool from_scratch = false;  // not from the state of a run that differs in how long it trains
  LivenessCheck proof = proof_of_death;
  // The folder below which the run may be complete under another name; empty: `results`.
  std::filesystem::path elsewhere = {};
  SizeCheck sizes = {};
  // The resume point of a run without a checkpoint; null: find_shorter_run.
  std::function<std::optional<ResumePoint>()> beginning = {};
  // The processes of the run; null: this one alone. Only the first one records, and knows the outcome.
  Ranks* ranks = nullptr;
  // Asked with the run's folder once the run is claimed; null: the run goes to its end.
  std::function<std::unique_ptr<Pruner>(const std::filesystem::path&)> pruner = {};
};

struct ExperimentOutcome {
  std::string run_id;
  std::filesystem::path folder;
  bool was_complete = false;  // nothing was done
  bool pruned = false;        // ended early by the pruner: not tested
  MetricTable test;           // empty when nothing was done
};

// Returns the number of threads of a run for which `asked` were requested; 0: the default.
int threads_of_run(int asked, const Spec& spec);

// Trains, evaluates and records; resumes when the run was begun before. Throws Interrupted after
// saving.
ExperimentOutcome run_experiment(const ResolvedSpec<Spec>& resolved,
                                 const ExperimentOptions& options,
                                 Observer& observer);

// A model with the sizes that a spec and its data ask for, as training begins with it. The notes of
// warm_start are added.
std::unique_ptr<Model> make_model(const Spec& spec,
                                  const Dataset& data,
                                  std::vector<std::string>* notes = nullptr);

}  // namespace softalign
