// One row of a list, from the plan to its record: what every worker does, on this machine or as a
// task of a Slurm array.
#pragma once

#include "framework/runs/early_termination.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/train/experiment.hpp"

namespace softalign {

struct WorkOptions {
  SizeCheck sizes = {};
  int threads = 1;
  bool steal = false;
  bool force = false;        // begin again, even if it is complete
  bool never_prune = false;  // go to the end, whatever the sweep's rule says
  AskOutside ask = {};       // instead of the sweep's rule
};

// Runs the row or goes on with it; one that is complete or pruned is left as it is. Throws what
// run_experiment throws; errors that would come again are kept in the row's failure file.
ExperimentOutcome work_on(const RunList& list,
                          const ListedRun& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer);

}  // namespace softalign
