// softalign run SPEC [KEY=VALUE..]: trains an experiment, or goes on with it, and leaves its
// record.
#include "framework/app/load.hpp"
#include "framework/app/progress.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {

void add_run(CLI::App& app, Outcome&) {
  struct Arguments {
    SpecArguments spec;
    ExperimentOptions options;
    std::string out = "results";
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("run", "train an experiment, or go on with it, and leave its record");
  arguments->spec.add_to(*command);
  command->add_option("--threads",
                      arguments->options.threads,
                      "threads; the result does not depend on it (default: all cores)");
  command->add_option("--out", arguments->out, "where records go")->capture_default_str();
  command->add_flag("--force", arguments->options.force, "begin again even if the run is complete");
  command->callback([arguments] {
    arguments->options.results = arguments->out;
    const auto resolved = load(arguments->spec);
    ProgressObserver observer;
    const ExperimentOutcome result = run_experiment(resolved, arguments->options, observer);
    fmt::print("{}{}\n",
               result.was_complete ? "already complete: " : "",
               (result.folder / "run.h5").string());
  });
}

}  // namespace softalign::app
