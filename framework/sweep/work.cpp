#include "framework/sweep/work.hpp"

#include "framework/record/claim.hpp"
#include "framework/record/file.hpp"
#include "framework/sweep/row_state.hpp"
#include "framework/sweep/slurm_queue.hpp"

namespace softalign {

ExperimentOutcome work_on(const SweepPlan& plan,
                          const SweepRow& row,
                          const WorkOptions& options,
                          const LoadSpec& load,
                          Observer& observer) {
  check_places(plan.place());
  check_places(plan.place(), row.run_id);
  FileSystem& files = FileSystem::real();
  const std::filesystem::path failure = plan.place().failure(row.run_id);
  if (!options.never_prune && row_status(plan, row).state == RowState::pruned) {
    ExperimentOutcome outcome;
    outcome.run_id = row.run_id;
    outcome.folder = plan.run(row).root;
    outcome.was_complete = outcome.pruned = true;
    return outcome;
  }
  try {
    ExperimentOptions experiment;
    experiment.results = plan.folder.parent_path();
    experiment.threads = options.threads;
    experiment.steal = options.steal;
    experiment.run_id = row.run_id;
    experiment.sizes = options.sizes;
    experiment.proof = SlurmWitness();
    if (!options.never_prune) experiment.pruner = make_pruner(plan, row, options.ask);
    const ExperimentOutcome outcome =
        run_experiment(row_spec(plan, row, load), experiment, observer);
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
