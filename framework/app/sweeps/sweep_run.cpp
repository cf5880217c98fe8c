// softalign study FILE, sweep run FILE and retry: run the rows of a list on this machine, print their results
// and judge the claims.
#include <algorithm>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/task.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/runs/results.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

struct RunArguments {
  SweepArguments sweep;
  int workers = 0;  // 0: as many as fit on the cores
  int threads = 1;  // of each run; 0: the cores are divided among the workers
  SizeCheck sizes;
  std::vector<Index> rows;  // only these; empty: all
  std::vector<std::string> states = {"failed", "trained", "corrupt"};
  bool again = false;  // retry rows that failed
  bool force = false;
  bool dry_run = false;
  bool json = false;
};

void write_outcome(const SweepSubject& subject, const SweepOutcome& outcome) {
  FileSystem::real().write_atomically(
      subject.plan.list.place().study(),
      study_json(*subject.sweep, subject.plan.list, subject.plan.wanted, outcome));
}

LocalRunOptions local_options(const RunList& list, const RunArguments& arguments) {
  const int cores = resolve_thread_count(0);
  LocalRunOptions options;
  options.workers = arguments.workers > 0 ? arguments.workers
                                          : std::max(1, cores / std::max(1, arguments.threads));
  const int threads = arguments.threads > 0 ? arguments.threads
                      : options.workers > 1 ? std::max(1, cores / options.workers)
                                            : 0;  // as many as the run can use
  options.rows = arguments.rows;
  for (const Index k : options.rows)
    if (k >= std::ssize(list.rows))
      throw SpecError("--rows {}: the plan has rows 0 to {}", k, std::ssize(list.rows) - 1);
  const std::size_t rows = options.rows.empty() ? list.rows.size() : options.rows.size();
  options.command = {program_file().string(),
                     "sweep",
                     "work",
                     fs::absolute(list.folder).string(),  // a name may begin with '-'
                     "--threads",
                     fmt::format("{}", threads),
                     "--side-by-side",
                     fmt::format("{}", std::min(usize(options.workers), rows))};
  for (const std::string& word : plugin_words(list, arguments.sweep))
    options.command.push_back(word);
  if (!arguments.sizes.refuse) options.command.emplace_back("--no-size-check");
  if (arguments.again) options.begin.insert(RunState::failed);
  if (arguments.force) {
    options.begin.insert(run_states().begin(), run_states().end());
    options.command.emplace_back("--force");
  }
  return options;
}

// Prints the results and judges the claims. chosen: the rows that were to be run.
ExitCode finish(const RunArguments& arguments,
                const SweepSubject& subject,
                const std::vector<std::size_t>& chosen,
                bool stopped) {
  const RunList& list = subject.plan.list;
  const std::size_t lines = terminal_lines(STDOUT_FILENO);
  const ListStatus status =
      subject.is_study() || arguments.json
          ? list_status(list)
          : print_sweep(list, list.rows.size() + 4 <= (lines > 0 ? lines : 64));
  std::vector<RowStatus> rows;
  for (const std::size_t i : chosen) rows.push_back(status.rows[i]);
  const bool done = std::ranges::all_of(rows, [](const auto& row) { return is_over(row.state); });
  if (list.early_terminate.type != "none" && done &&
      std::ranges::none_of(rows, [&](const RowStatus& row) {
        return row.last_update >= list.early_terminate.min_updates;
      }))
    write_error(fmt::format("note: early_terminate.min_updates is {}, and no run has that many\n",
                            list.early_terminate.min_updates));
  if (stopped && !done)
    throw Interrupted("interrupted; the state is saved, run the same command again to resume");

  ListResults results(list, status, subject.plan.wanted);
  SweepOutcome outcome;
  if (subject.is_study()) outcome.tables = study_tables(*subject.sweep, subject.plan, results);
  outcome.claims = judge(subject.claims, results);
  if (subject.is_study()) write_outcome(subject, outcome);
  if (subject.is_study() && arguments.json)
    fmt::print("{}", study_json(*subject.sweep, list, subject.plan.wanted, outcome));
  else if (subject.is_study())
    print_study(*subject.sweep, outcome, arguments.sweep.tiny);
  else if (arguments.json)
    print_json(list_json(list, &status, outcome.claims));
  else
    print_text("{}", claims_text(outcome.claims));
  if (say_failed(list, rows)) return ExitCode::failed;
  const bool judged = !arguments.sweep.tiny;  // because tiny models are hardly trained
  if (done) return judged && broken(outcome.claims) ? ExitCode::check : ExitCode::done;
  const auto in_use =
      std::ranges::count_if(rows, [](const RowStatus& row) { return is_worked_on(row.state); });
  const auto open =
      std::ranges::count_if(rows, [](const RowStatus& row) { return !is_over(row.state); });
  if (in_use > 0)  // verdicts are not final
    throw Interrupted(
        "incomplete: another process works on {} of {} runs; run the same command again",
        in_use,
        rows.size());
  throw Interrupted(
      "incomplete: {} of {} runs have not ended; run the same command again", open, rows.size());
}

// Runs the sweep by Optuna's script, because Optuna decides which row is next.
[[noreturn]] void run_optuna(const RunArguments& arguments, const Sweep& sweep) {
  if (!arguments.rows.empty())
    throw SpecError("--rows: Optuna proposes one row after the other; omit it");
  if (arguments.sweep.tiny || !arguments.sweep.overrides.empty())
    throw SpecError("{}: Optuna searches the space of the file; omit --tiny and overrides",
                    arguments.sweep.file);
  std::vector<std::string> words = {"--run-cap",
                                    fmt::format("{}", *sweep.run_cap),
                                    "--results=" + arguments.sweep.out,
                                    "--workers",
                                    fmt::format("{}", std::max(1, arguments.workers)),
                                    "--threads",
                                    fmt::format("{}", arguments.threads),
                                    "--program",
                                    program_file().string()};
  for (const std::string& plugin : arguments.sweep.plugins) words.push_back("--plugin=" + plugin);
  words.insert(words.end(), {"--", arguments.sweep.file});  // which may begin with '-'
  become_script("optuna_sweep.py", words, "python3-optuna");
}

// Checks specs, sizes and study.json before the first run, not after hours.
void check_study(const SweepSubject& subject,
                 const std::vector<std::size_t>& chosen,
                 const RunArguments& arguments) {
  const RunList& list = subject.plan.list;
  for (const std::size_t i : chosen) {
    if (!arguments.force && end_is_published(list.run(list.rows[i]))) continue;
    const ResolvedSpec<Spec> resolved = resolve_row(list, list.rows[i], loader(arguments.sweep));
    check_run_sizes(resolved,
                    make_plugin<TaskKind>(resolved.spec.task)->outline(),
                    threads_of_run(arguments.threads, resolved.spec),
                    arguments.sizes);
  }
  check_replaceable(list.place().study(), is_study_json);
}

// Returns the rows selected by the file, --only and --rows.
std::vector<std::size_t> chosen_rows(const SweepSubject& subject, const RunArguments& arguments) {
  std::vector<std::size_t> chosen = subject.plan.chosen(arguments.sweep.only);
  const std::vector<Index>& rows = arguments.rows;
  if (!rows.empty())
    std::erase_if(chosen, [&](std::size_t i) {
      return std::ranges::count(rows, static_cast<Index>(i)) == 0;
    });
  if (chosen.empty() && !subject.plan.list.rows.empty())
    throw SpecError("--only and --rows select no run");
  return chosen;
}

// Prints the chosen rows, and how many of them would be run.
void print_rows(const RunList& list,
                const std::vector<std::size_t>& chosen,
                const LocalRunOptions& options) {
  print_text("{}", rows_text(list, chosen));
  const std::vector<Index> promoted = promoted_rows(list);
  const auto count = std::ranges::count_if(chosen, [&](std::size_t i) {
    return options.begin.contains(row_status(list, list.rows[i]).state) ||
           std::ranges::count(promoted, list.rows[i].k) > 0;
  });
  print_text("{} would be run, {} at a time\n", counted(count, "row"), options.workers);
}

bool work_through(const RunArguments& arguments,
                  const SweepSubject& subject,
                  const LocalRunOptions& options) {
  const auto write = [&] {  // study.json has the status of the study after every run
    if (subject.is_study()) write_outcome(subject, {});
  };
  write();
  SweepDisplay display(subject.plan.list, options, frozen_loader(arguments.sweep), write);
  const bool stopped = run_locally(subject.plan.list, options, display);
  display.clear();
  return stopped;
}

ExitCode run(RunArguments arguments) {
  SweepSubject subject = subject_of(arguments.sweep);
  const bool optuna = subject.sweep && subject.sweep->method == SweepMethod::optuna;
  if (optuna && !arguments.dry_run) run_optuna(arguments, *subject.sweep);
  if (!arguments.dry_run) catch_interrupts();
  if (!subject.sweep) subject.claims = claims_or_note(arguments.sweep, subject.plan.list);
  const RunList& list = subject.plan.list;
  if (subject.is_study() && !arguments.dry_run)
    check_study(subject, chosen_rows(subject, arguments), arguments);
  if (!arguments.dry_run || (!subject.is_study() && is_there(list.place().plan())))
    keep(arguments.sweep, subject);
  local_options(list, arguments);  // refuses unknown rows
  const std::vector<std::size_t> chosen = chosen_rows(subject, arguments);
  arguments.rows.assign(chosen.begin(), chosen.end());
  const LocalRunOptions options = local_options(list, arguments);
  if (!arguments.dry_run)
    return finish(arguments, subject, chosen, work_through(arguments, subject, options));
  if (arguments.json && subject.is_study())
    fmt::print("{}", study_json(*subject.sweep, list, chosen, {}));
  else if (arguments.json)
    print_json(list_json(list));
  else
    print_rows(list, chosen, options);
  return ExitCode::done;
}

// Moves a corrupt run folder aside, so that its row restarts.
void move_aside(const RunList& list, const RunFolder& run) {
  for (int n = 1;; ++n) {
    const fs::path aside =
        list.place().corrupt() / fmt::format("{}-{}", run.root.filename().string(), n);
    if (fs::exists(fs::symlink_status(aside))) continue;
    FileSystem::real().make_folders(aside.parent_path());
    fs::rename(run.root, aside);
    write_error(fmt::format("{}: moved to {}\n", short_path(run.root), short_path(aside)));
    return;
  }
}

ExitCode retry(const RunArguments& arguments) {
  SweepSubject subject;
  RunList& list = subject.plan.list = planned(arguments.sweep);
  LocalRunOptions options = local_options(list, arguments);
  options.begin.clear();
  for (const RunState state : run_states())
    if (std::ranges::count(arguments.states, softalign::to_string(state)) > 0)
      options.begin.insert(state);
  if (options.begin.contains(RunState::pruned)) options.command.emplace_back("--no-prune");
  if (!arguments.dry_run) check_names_in(list.place());
  const ListStatus stands = list_status(list);
  std::vector<std::size_t> chosen;
  std::vector<std::string> unreadable;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const ListedRun& row = list.rows[i];
    const RowStatus& status = stands.rows[i];
    if (!arguments.rows.empty() && std::ranges::count(arguments.rows, row.k) == 0) continue;
    if (status.state == RunState::unreadable) unreadable.push_back(row_fault(list, row, status));
    // A pruned row whose retry was interrupted.
    const bool released = options.begin.contains(RunState::pruned) &&
                          status.state == RunState::interrupted &&
                          read_dev_history(list.run(row).root).released;
    if (!options.begin.contains(status.state) && !released) continue;
    chosen.push_back(i);
    if (status.state == RunState::corrupt && !arguments.dry_run) move_aside(list, list.run(row));
    if (arguments.dry_run)
      print_text(
          "row {} ({}): {}\n", row.k, setting_text(list, row), softalign::to_string(status.state));
  }
  if (chosen.empty()) print_text("nothing to retry\n");
  if (chosen.empty() || arguments.dry_run) {
    for (const std::string& fault : unreadable) print_error(fault);
    return unreadable.empty() ? ExitCode::done : ExitCode::failed;
  }
  options.begin.insert({RunState::planned, RunState::interrupted});
  options.rows.assign(chosen.begin(), chosen.end());
  subject.claims = claims_or_note(arguments.sweep, list);
  const ExitCode code =
      finish(arguments, subject, chosen, work_through(arguments, subject, options));
  return unreadable.empty() ? code : ExitCode::failed;
}

void add_local_options(CLI::App& command, RunArguments& arguments, bool study) {
  command
      .add_option("--workers",
                  arguments.workers,
                  study ? "number of runs at a time (default: 1)"
                        : "number of runs at a time (default: cores / threads per run)")
      ->check(integer(between(1, 1024)));
  add_threads_option(
      command,
      arguments.threads,
      study ? "threads per run; they do not change the results (default: cores / workers)"
            : "threads per run (default: 1)");
  command.add_option("--rows", arguments.rows, "run only these rows: 0,3,5")
      ->delimiter(',')
      ->check(integer());
  add_size_option(command, arguments.sizes);
  command.add_flag("--dry-run", arguments.dry_run, "list the runs without starting any");
}

// Adds the options of `study` and `sweep run`, which do the same, except that `study` retries failed rows.
void add_run_options(CLI::App& command,
                     const std::shared_ptr<RunArguments>& arguments,
                     bool study,
                     Outcome& outcome) {
  add_plan_options(command, arguments->sweep);
  add_local_options(command, *arguments, study);
  command.add_option("overrides", arguments->sweep.overrides, "changes to the spec of every run");
  command.add_option(
      "--only", arguments->sweep.only, "run only variants that match this pattern of part/variant");
  command.add_flag(
      "--force", arguments->force, "start the selected runs again even if they are complete");
  command.add_flag("--tiny",
                   arguments->sweep.tiny,
                   "try the study with its `tiny` settings and one seed; records go to NAME-tiny");
  command.add_flag(
      "--json", arguments->json, "print the outcome as JSON, in the form of study.json");
  command.callback([arguments, &outcome] { outcome.code = run(*arguments); });
}

}  // namespace

void add_study(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->workers = 1;
  arguments->threads = 0;
  arguments->again = true;
  CLI::App* command = add_command(app,
                                  "study",
                                  "run or resume a study, print its tables and test its claims",
                                  "Experiments",
                                  "softalign study experiments/quickstart/study.yaml --dry-run");
  add_run_options(*command, arguments, true, outcome);
}

void add_sweep_run(CLI::App& sweep, Outcome& outcome) {
  auto arguments = std::make_shared<RunArguments>();
  add_run_options(
      *add_sweep_command(sweep, "run", "run the unfinished rows of a sweep on this machine"),
      arguments,
      false,
      outcome);

  CLI::App* command = add_sweep_command(sweep, "retry", "run failed, corrupt or pruned rows again");
  add_plan_options(*command, arguments->sweep);
  add_local_options(*command, *arguments, false);
  command
      ->add_option("--state",
                   arguments->states,
                   "states of the rows to run: failed, trained, pruned, corrupt, lost, interrupted")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"failed", "trained", "pruned", "corrupt", "lost", "interrupted"}));
  command->callback([arguments, &outcome] { outcome.code = retry(*arguments); });
}

}  // namespace softalign::app
