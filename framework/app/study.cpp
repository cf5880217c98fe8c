// softalign study FILE [KEY=VALUE..]: runs a study's experiments, or goes on with them, prints its
// tables and checks its claims.
#include <algorithm>
#include <set>

#include "framework/app/command.hpp"
#include "framework/app/load.hpp"
#include "framework/app/progress.hpp"
#include "framework/app/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/launch/run_study.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  SpecArguments study;
  int threads = 0;
  SizeCheck sizes;
  std::string out = "results";
  std::string only;
  bool force = false;
  bool dry_run = false;
  bool json = false;
};

// Once each: the runs of a study share their files and overrides.
void print_notes(const std::vector<StudyRun>& runs) {
  std::set<std::string> told;
  for (const StudyRun& run : runs)
    for (const std::string& note : run.resolved.notes)
      if (told.insert(note).second) write_error(fmt::format("note: {}\n", printable(note, kWhole)));
}

void print(const Study& study, const StudyOutcome& outcome) {
  if (!study.question.empty()) print_text("{}\n", study.question);
  for (const StudyTable& table : outcome.tables) print_text("\n{}", table_text(table));
  const bool marked = std::any_of(outcome.tables.begin(), outcome.tables.end(), [](const auto& t) {
    return std::any_of(t.best.begin(), t.best.end(), [](int row) { return row >= 0; });
  });
  if (marked) print_text("* the best of its column\n");
  if (!outcome.claims.empty()) print_text("\nClaims\n{}", claims_text(outcome.claims));
}

ExitCode study(const Arguments& arguments) {
  const Study study = read_study(arguments.study.file);
  const auto runs = plan_study(
      study,
      numbered_overrides(arguments.study.overrides),
      arguments.out,
      [&](SpecTree tree) { return load(std::move(tree), arguments.study.plugins); },
      arguments.only);
  const auto chosen = chosen_runs(runs, arguments.only);
  if (arguments.dry_run) {
    if (arguments.json)
      fmt::print("{}", study_json(study, chosen, {}));
    else
      print_text("{}", plan_text(chosen));
    return ExitCode::done;
  }
  print_notes(chosen);
  ExperimentOptions options;
  options.results = arguments.out;
  options.threads = arguments.threads;
  options.force = arguments.force;
  options.sizes = arguments.sizes;
  const auto watch = [](const StudyRun& run, std::size_t number, std::size_t count) {
    auto observer = std::make_unique<ProgressObserver>();
    observer->message(
        fmt::format("run {} of {}: {} seed {}", number, count, run.resolved.spec.name, run.seed));
    return observer;
  };
  const StudyOutcome outcome = run_study(study, runs, chosen, options, watch);
  if (arguments.json)
    fmt::print("{}", study_json(study, runs, outcome));
  else
    print(study, outcome);
  if (outcome.in_use > 0)  // so no verdict is the last one
    throw Interrupted(
        "not complete: another process works on {} of {} runs; run the same command again",
        outcome.in_use,
        chosen.size());
  return outcome.broken() ? ExitCode::check : ExitCode::done;
}

}  // namespace

void add_study(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app,
      "study",
      "run a study's experiments, or go on with them; print its tables, check its claims",
      "Experiments",
      "softalign study experiments/quickstart/study.yaml --dry-run");
  command->add_option("study", arguments->study.file, "the study's YAML file")->required();
  command->add_option("overrides", arguments->study.overrides, "changes to every run's spec");
  add_plugin_option(*command, arguments->study.plugins);
  add_threads_option(*command,
                     arguments->threads,
                     "threads; the results do not depend on it (default: all cores)");
  command->add_option("--out", arguments->out, "where records go")->capture_default_str();
  command->add_option("--only", arguments->only, "only runs whose part/variant fits this pattern");
  command->add_flag(
      "--force", arguments->force, "begin the runs (of --only) again even if they are complete");
  add_size_option(*command, arguments->sizes);
  command->add_flag("--dry-run", arguments->dry_run, "list the runs, do nothing");
  command->add_flag("--json", arguments->json, "print what study.json holds");
  command->callback([arguments, &outcome] { outcome.code = study(*arguments); });
}

}  // namespace softalign::app
