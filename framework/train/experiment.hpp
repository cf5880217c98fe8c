// Runs an experiment from its spec to its record: `softalign run` without a terminal.
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
  int threads = 0;     // 0: those of the machine, but at most one per four sentences of a batch
  bool force = false;  // run again although the run is complete
  bool steal = false;  // take over from an owner who may be alive
  bool from_scratch = false;  // do not extend a run that differs only in its length
  LivenessCheck proof = proof_of_death;
  // The folder that is searched for this run under another name, complete; empty: `results`.
  std::filesystem::path elsewhere = {};
  SizeCheck sizes = {};
  // Returns the resume point of a run without a checkpoint; null: find_shorter_run.
  std::function<std::optional<ResumePoint>()> beginning = {};
  // The processes of the run; null: this one alone. Only the first one records and returns the outcome.
  Ranks* ranks = nullptr;
  // Makes the pruner from the run's folder once the run is claimed; null: no pruning.
  std::function<std::unique_ptr<Pruner>(const std::filesystem::path&)> pruner = {};
};

struct ExperimentOutcome {
  std::string run_id;
  std::filesystem::path folder;
  bool was_complete = false;  // nothing was done
  bool pruned = false;        // ended early by the pruner: not tested
  MetricTable test;           // empty if nothing was done
};

// Returns the number of threads of a run for which `asked` were requested; 0: the default.
int threads_of_run(int asked, const Spec& spec);

// Trains, evaluates and records; resumes a run that was started before. Throws Interrupted after
// saving.
ExperimentOutcome run_experiment(const ResolvedSpec<Spec>& resolved,
                                 const ExperimentOptions& options,
                                 Observer& observer);

// Returns a model with its initial parameters, and with the sizes that the spec and its data require.
// Appends the notes of warm_start to `notes`.
std::unique_ptr<Model> make_model(const Spec& spec,
                                  const Dataset& data,
                                  std::vector<std::string>* notes = nullptr);

}  // namespace softalign
