// softalign study FILE [KEY=VALUE..]: runs a study's experiments, or goes on with them, prints its
// tables and checks its claims.
#include <algorithm>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/sweeps/sweep_table.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/data/task.hpp"
#include "framework/record/folder/tidy.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/runs/study_report.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

struct StudyArguments {
  SpecArguments study;
  LocalArguments local;
  std::string out = "results";
  std::string only;
  bool force = false;
  bool tiny = false;
  bool dry_run = false;
  bool json = false;
};

void print(const Study& study, const StudyOutcome& outcome, bool tiny) {
  if (!study.question.empty()) print_text("{}\n", study.question);
  for (const StudyTable& table : outcome.tables) print_text("\n{}", table_text(table));
  const bool marked = std::any_of(outcome.tables.begin(), outcome.tables.end(), [](const auto& t) {
    return std::any_of(t.best.begin(), t.best.end(), [](int row) { return row >= 0; });
  });
  if (marked) print_text("* the best of its column\n");
  if (!outcome.claims.empty()) print_text("\nClaims\n{}", claims_text(outcome.claims));
  if (tiny)
    print_text("\n--tiny: hardly trained, so tables and verdicts only show that the study runs\n");
}

// study.json says after every run how the study stands.
class StudyDisplay final : public SweepDisplay {
 public:
  StudyDisplay(const Study& study, const StudyPlan& plan, int workers, const LoadSpec& load)
      : SweepDisplay(plan.list, workers, load), study_(study), plan_(plan) {}

  void row_ended(const ListedRun& row, const RowStatus& status, double seconds) override {
    SweepDisplay::row_ended(row, status, seconds);
    write({});
  }
  void write(const StudyOutcome& outcome) const {
    FileSystem::real().write_atomically(plan_.list.place().study(),
                                        study_json(study_, plan_.list, plan_.wanted, outcome));
  }

 private:
  const Study& study_;
  const StudyPlan& plan_;
};

// Rather now than after hours.
void check_sizes(const StudyPlan& plan,
                 const std::vector<std::size_t>& chosen,
                 const StudyArguments& arguments,
                 const LoadSpec& load) {
  for (const std::size_t i : chosen) {
    const ListedRun& row = plan.list.rows[i];
    if (!arguments.force && end_is_published(plan.list.run(row))) continue;
    const ResolvedSpec<Spec> resolved = resolve_row(plan.list, row, load);
    check_run_sizes(resolved,
                    make_plugin<TaskKind>(resolved.spec.task)->outline(),
                    threads_of_run(arguments.local.threads, resolved.spec),
                    arguments.local.sizes);
  }
}

// Runs what is not complete of the chosen rows. Returns their states, and whether it was stopped.
std::pair<std::vector<RowStatus>, bool> run_rows(const Study& study,
                                                 const StudyPlan& plan,
                                                 const std::vector<std::size_t>& chosen,
                                                 const StudyArguments& arguments,
                                                 const LoadSpec& load) {
  SweepArguments words;
  words.plugins = arguments.study.plugins;
  LocalArguments local = arguments.local;
  for (const std::size_t i : chosen) local.rows.push_back(plan.list.rows[i].k);
  LocalRunOptions options = local_options(plan.list, words, local);
  options.begin.insert(RunState::failed);
  if (arguments.force) {
    options.begin.insert(run_states().begin(), run_states().end());
    options.command.emplace_back("--force");
  }
  StudyDisplay display(study, plan, options.workers, load);
  display.write({});
  const bool stopped = run_locally(plan.list, options, display);
  display.clear();
  std::vector<RowStatus> rows;
  for (const std::size_t i : chosen) rows.push_back(row_status(plan.list, plan.list.rows[i]));
  return {std::move(rows), stopped};
}

ExitCode study(const StudyArguments& arguments) {
  const Study study = read_study(arguments.study.file, arguments.tiny);
  const LoadSpec load_spec = [&](SpecTree tree) {
    return softalign::load_spec(std::move(tree), arguments.study.plugins, arguments.out);
  };
  const StudyPlan plan = plan_study(study,
                                    numbered_overrides(arguments.study.overrides),
                                    arguments.out,
                                    load_spec,
                                    arguments.only);
  const std::vector<std::size_t> chosen = plan.chosen(arguments.only);
  if (arguments.dry_run) {
    if (arguments.json)
      fmt::print("{}", study_json(study, plan.list, chosen, {}));
    else
      print_text("{}", plan_text(plan.list, chosen));
    return ExitCode::done;
  }
  for (const std::string& note : plan.list.notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
  check_sizes(plan, chosen, arguments, load_spec);
  check_replaceable(plan.list.place().study(), is_study_json);
  write_list(plan.list);
  const auto [rows, stopped] = run_rows(study, plan, chosen, arguments, load_spec);
  if (stopped &&
      !std::ranges::all_of(rows, [](const RowStatus& row) { return is_over(row.state); }))
    throw Interrupted("interrupted; the state is saved, run the same command again to go on");

  const StudyResults results(plan);
  const StudyOutcome outcome{study_tables(study, plan, results), judge(study, results)};
  const std::string json = study_json(study, plan.list, plan.wanted, outcome);
  FileSystem::real().write_atomically(plan.list.place().study(), json);
  if (arguments.json)
    fmt::print("{}", json);
  else
    print(study, outcome, arguments.tiny);
  if (say_failed(plan.list, rows)) return ExitCode::failed;
  const auto in_use =
      std::ranges::count_if(rows, [](const RowStatus& row) { return is_worked_on(row.state); });
  if (in_use > 0)  // so no verdict is the last one
    throw Interrupted(
        "not complete: another process works on {} of {} runs; run the same command again",
        in_use,
        chosen.size());
  const auto open =
      std::ranges::count_if(rows, [](const auto& row) { return !is_over(row.state); });
  if (open > 0)
    throw Interrupted("not complete: {} of {} runs are not over; run the same command again",
                      open,
                      chosen.size());
  return broken(outcome.claims) ? ExitCode::check : ExitCode::done;
}

}  // namespace

void add_study(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<StudyArguments>();
  arguments->local = {.workers = 1, .threads = 0, .sizes = {}, .rows = {}};
  CLI::App* command = add_command(
      app,
      "study",
      "run a study's experiments, or go on with them; print its tables, check its claims",
      "Experiments",
      "softalign study experiments/quickstart/study.yaml --dry-run");
  command->add_option("study", arguments->study.file, "the study's YAML file")->required();
  command->add_option("overrides", arguments->study.overrides, "changes to every run's spec");
  add_plugin_option(*command, arguments->study.plugins);
  command->add_option("--workers", arguments->local.workers, "runs at a time (default: 1)")
      ->check(integer(between(1, 1024)));
  add_threads_option(
      *command,
      arguments->local.threads,
      "threads of each run; the results do not depend on it (default: cores / workers)");
  command->add_option("--out", arguments->out, "where records go")->capture_default_str();
  command->add_option("--only", arguments->only, "only runs whose part/variant fits this pattern");
  command->add_flag(
      "--force", arguments->force, "begin the runs (of --only) again even if they are complete");
  add_size_option(*command, arguments->local.sizes);
  command->add_flag("--tiny",
                    arguments->tiny,
                    "try it: with what its parts say under tiny and one seed, into NAME-tiny");
  command->add_flag("--dry-run", arguments->dry_run, "list the runs, do nothing");
  command->add_flag("--json", arguments->json, "print what study.json holds");
  command->callback([arguments, &outcome] { outcome.code = study(*arguments); });
}

}  // namespace softalign::app
