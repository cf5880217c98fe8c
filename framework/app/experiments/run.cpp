// softalign run SPEC [KEY=VALUE..]: trains an experiment, or goes on with it, and leaves its
// record.

#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/experiments/plan.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign::app {
namespace {

struct RunArguments {
  SpecArguments spec;
  ExperimentOptions options;
  std::string out = "results";
  bool dry_run = false;
  bool json = false;
};

void print_outcome(const ExperimentOutcome& outcome, bool json) {
  const std::filesystem::path file = RunFolder{outcome.folder}.record();
  const Record record(file);
  const MetricTable table = read_by_length(record);
  if (json) {
    const Json object = {{"run_id", outcome.run_id},
                         {"record", file.string()},
                         {"was_complete", outcome.was_complete},
                         {"lines", record.attribute<Index>("data/test", "read").value_or(0)},
                         {"test", metrics_json(table)}};
    print_json(object);
    return;
  }
  std::vector<std::string> metrics = main_metrics(table);
  for (const std::string& name : table.metrics)
    if (!Registry::instance().find_if_present(MetricKind::name, name))
      metrics.push_back(name);  // a baseline that the spec asks for
  print_text(
      "test set{}, by source length\n{}", of_lines(record), metrics_by_length(table, metrics));
  print_text("{}{}\n", outcome.was_complete ? "complete already: " : "", short_path(file));
}

void run(const RunArguments& arguments) {
  const auto resolved = load(arguments.spec, arguments.out);
  ProgressObserver observer;
  if (arguments.dry_run) {
    const Plan plan = plan_run(resolved, arguments.options, arguments.out, observer);
    if (arguments.json)
      print_json(plan_json(plan));
    else
      print_text("{}", plan_text(plan));
    return;
  }
  ExperimentOptions options = arguments.options;
  options.results = arguments.out;
  const ExperimentOutcome outcome = run_experiment(resolved, options, observer);
  observer.clear();
  print_outcome(outcome, arguments.json);
}

}  // namespace

void add_run(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = add_command(app,
                                  "run",
                                  "train an experiment, or go on with it, and leave its record",
                                  "Experiments",
                                  "softalign run configs/reverse.yaml train.epochs=2 --threads 2");
  arguments->spec.add_to(*command);
  add_threads_option(*command,
                     arguments->options.threads,
                     "threads; the result does not depend on it (default: all cores)");
  command->add_option("--out", arguments->out, "where records go")->capture_default_str();
  command->add_flag("--force", arguments->options.force, "begin again even if the run is complete");
  command->add_flag("--from-scratch",
                    arguments->options.from_scratch,
                    "do not go on from a complete run that differs only in how long it trains");
  command->add_flag("--steal",
                    arguments->options.steal,
                    "take the run over from a process that may be alive on another machine");
  add_size_option(*command, arguments->options.sizes);
  command->add_flag("--dry-run", arguments->dry_run, "say what would be run, and write no record");
  command->add_flag("--json", arguments->json, "print the outcome as JSON");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace softalign::app
