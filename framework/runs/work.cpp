#include "framework/runs/work.hpp"

#include "framework/record/file.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/slurm_queue.hpp"

namespace softalign {

ExperimentOutcome work_on(const RunList& list,
                          const ListedRun& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer) {
  check_names_in(list.place());
  check_names_in(list.place(), row.run_id, row.below);
  FileSystem& files = FileSystem::real();
  const std::filesystem::path failure = list.place().failure(row.run_id);
  if (!options.never_prune && row_status(list, row).state == RunState::pruned) {
    ExperimentOutcome outcome;
    outcome.run_id = row.run_id;
    outcome.folder = list.run(row).root;
    outcome.was_complete = outcome.pruned = true;
    return outcome;
  }
  try {
    ExperimentOptions experiment;
    experiment.results = list.run(row).root.parent_path().parent_path();
    experiment.elsewhere = list.folder.parent_path();
    experiment.threads = options.threads;
    experiment.steal = options.steal;
    experiment.force = options.force;
    experiment.sizes = options.sizes;
    experiment.proof = SlurmWitness();
    if (!options.never_prune) experiment.pruner = make_pruner(list, row, options.ask);
    const ExperimentOutcome outcome =
        run_experiment(row_spec(list, row, load), experiment, observer);
    files.remove(failure);
    return outcome;
  } catch (const RunInUse&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    files.make_folders(failure.parent_path());
    files.write_atomically(failure, printable(error.what(), kWhole) + "\n");
    throw;
  }
}

}  // namespace softalign
