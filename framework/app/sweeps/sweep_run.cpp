// softalign sweep run, and retry: works through a plan's rows on this machine.
#include <algorithm>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/sweeps/sweep_table.hpp"
#include "framework/app/terminal/interrupt.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/script.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/plan_sweep.hpp"

namespace softalign::app {
namespace {

struct SweepRunArguments {
  SweepArguments sweep;
  LocalArguments local;
  std::vector<std::string> states = {"failed", "trained", "corrupt"};
  bool dry_run = false;
};

// What would be begun.
void print_rows(const RunList& list, const LocalRunOptions& options) {
  const ListStatus stands = list_status(list);
  const std::vector<std::string> states = state_texts(list, stands.rows);
  Index count = 0;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const ListedRun& row = list.rows[i];
    const bool wanted =
        options.rows.empty() || std::count(options.rows.begin(), options.rows.end(), row.k) > 0;
    if (!wanted || !options.begin.contains(stands.rows[i].state)) continue;
    print_text("row {} ({}): {}\n", row.k, setting_text(list, row), states[i]);
    ++count;
  }
  print_text("{} would be run, {} at a time\n", counted(count, "row"), options.workers);
}

ExitCode finish(const RunList& list,
                const LocalRunOptions& options,
                bool stopped,
                const std::vector<StudyClaim>& claims) {
  const std::size_t lines = terminal_lines(STDOUT_FILENO);
  const ListStatus status = print_sweep(list, list.rows.size() + 4 <= (lines > 0 ? lines : 64));
  std::vector<RowStatus> rows;  // of those that were to be run
  for (std::size_t i = 0; i < list.rows.size(); ++i)
    if (options.rows.empty() ||
        std::count(options.rows.begin(), options.rows.end(), list.rows[i].k) > 0)
      rows.push_back(status.rows[i]);
  const bool done = std::all_of(
      rows.begin(), rows.end(), [](const RowStatus& row) { return is_over(row.state); });
  const auto reached = [&](const RowStatus& row) {
    return row.last_update >= list.options.early_terminate.min_updates;
  };
  if (list.options.early_terminate.type != "none" && done &&
      std::none_of(rows.begin(), rows.end(), reached))
    write_error(fmt::format("note: early_terminate.min_updates is {}, and no run has so many\n",
                            list.options.early_terminate.min_updates));
  if (stopped && !done)
    throw Interrupted("interrupted; the state is saved, run the same command again to go on");
  const std::vector<JudgedClaim> judged = judge(claims, list, status);
  print_text("{}", claims_text(judged));
  if (say_failed(list, rows)) return ExitCode::failed;
  if (broken(judged)) return ExitCode::check;
  return done ? ExitCode::done : ExitCode::interrupted;
}

// Optuna decides what comes next, so it is the one that works through the sweep.
[[noreturn]] void run_optuna(const SweepRunArguments& arguments, const Sweep& sweep) {
  std::vector<std::string> words = {"--run-cap",
                                    fmt::format("{}", *sweep.run_cap),
                                    "--out=" + arguments.sweep.out,
                                    "--workers",
                                    fmt::format("{}", std::max(1, arguments.local.workers)),
                                    "--threads",
                                    fmt::format("{}", arguments.local.threads),
                                    "--program",
                                    fs::read_symlink("/proc/self/exe").string()};
  for (const std::string& plugin : arguments.sweep.plugins) words.push_back("--plugin=" + plugin);
  words.insert(words.end(), {"--", arguments.sweep.file});  // which may begin with '-'
  become_script("optuna_sweep.py", words, "python3-optuna");
}

ExitCode run(const SweepRunArguments& arguments) {
  const fs::path file = arguments.sweep.file;
  if (!fs::is_directory(file) && !arguments.dry_run && !is_study(file))
    if (const Sweep sweep = read_sweep(arguments.sweep.file); sweep.method == SweepMethod::optuna) {
      plan_sweep(sweep, arguments.sweep.out,
                 loader(arguments.sweep));  // refuses now what is wrong
      if (!arguments.local.rows.empty())
        throw SpecError("--rows: Optuna proposes one row after the other; leave it out");
      run_optuna(arguments, sweep);
    }
  if (!arguments.dry_run) catch_interrupts();
  const RunList list = planned_or_plan(arguments.sweep, !arguments.dry_run);
  if (arguments.dry_run) {
    print_rows(list, local_options(list, arguments.sweep, arguments.local));
    return ExitCode::done;
  }
  const LocalRunOptions options = local_options(list, arguments.sweep, arguments.local);
  const std::vector<StudyClaim> claims = claims_or_note(arguments.sweep, list);
  SweepDisplay display(list, options.workers, frozen_loader(arguments.sweep));
  const bool stopped = run_locally(list, options, display);
  display.clear();
  return finish(list, options, stopped, claims);
}

// A folder with damaged files is moved aside, so that its row begins anew.
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

ExitCode retry(const SweepRunArguments& arguments) {
  const RunList list = planned(arguments.sweep);
  LocalRunOptions options = local_options(list, arguments.sweep, arguments.local);
  options.begin.clear();
  for (const RunState state : run_states())
    if (std::count(arguments.states.begin(), arguments.states.end(), softalign::to_string(state)) >
        0)
      options.begin.insert(state);
  if (options.begin.contains(RunState::pruned)) options.command.push_back("--no-prune");
  std::vector<Index> chosen;
  if (!arguments.dry_run) check_places(list.place());
  const ListStatus stands = list_status(list);
  std::vector<std::string> unreadable;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const ListedRun& row = list.rows[i];
    const RowStatus& status = stands.rows[i];
    if (!arguments.local.rows.empty() &&
        std::count(arguments.local.rows.begin(), arguments.local.rows.end(), row.k) == 0)
      continue;
    if (status.state == RunState::unreadable) unreadable.push_back(row_fault(list, row, status));
    if (!options.begin.contains(status.state)) continue;
    chosen.push_back(row.k);
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
  options.begin.insert(RunState::planned);
  options.rows = chosen;
  const std::vector<StudyClaim> claims = claims_or_note(arguments.sweep, list);
  SweepDisplay display(list, options.workers, frozen_loader(arguments.sweep));
  const bool stopped = run_locally(list, options, display);
  display.clear();
  const ExitCode code = finish(list, options, stopped, claims);
  return unreadable.empty() ? code : ExitCode::failed;
}

}  // namespace

LocalRunOptions local_options(const RunList& list,
                              const SweepArguments& arguments,
                              const LocalArguments& local) {
  const int cores = threads_or_all(0);
  LocalRunOptions options;
  options.workers =
      local.workers > 0 ? local.workers : std::max(1, cores / std::max(1, local.threads));
  const int threads = local.threads > 0     ? local.threads
                      : options.workers > 1 ? std::max(1, cores / options.workers)
                                            : 0;  // as many as the run can use
  options.command = {fs::read_symlink("/proc/self/exe").string(),
                     "sweep",
                     "work",
                     fs::absolute(list.folder).string(),  // a name may begin with '-'
                     "--threads",
                     fmt::format("{}", threads)};
  for (const std::string& word : plugin_words(list, arguments)) options.command.push_back(word);
  options.rows = local.rows;
  const std::size_t rows = options.rows.empty() ? list.rows.size() : options.rows.size();
  options.command.insert(
      options.command.end(),
      {"--side-by-side", fmt::format("{}", std::min(usize(options.workers), rows))});
  if (!local.sizes.refuse) options.command.push_back("--no-size-check");
  for (const Index k : options.rows)
    if (k >= std::ssize(list.rows))
      throw SpecError("--rows {}: the plan has rows 0 to {}", k, std::ssize(list.rows) - 1);
  return options;
}

bool say_failed(const RunList& list, const std::vector<RowStatus>& rows) {
  const auto any = [&](RunState state) {
    return std::ranges::count(rows, state, &RowStatus::state) > 0;
  };
  if (const auto row = std::ranges::find(rows, RunState::unreadable, &RowStatus::state);
      row != rows.end())
    print_error(
        fmt::format("some rows cannot be read now, so nothing was done with them: {}", row->fault));
  if (!any(RunState::failed) && !any(RunState::trained) && !any(RunState::corrupt))
    return any(RunState::unreadable);
  std::vector<std::string> plugins;
  for (const std::string& file : named_plugins()) plugins.insert(plugins.end(), {"--plugin", file});
  print_error(fmt::format("some rows failed; their output is in {}; {}",
                          list.place().logs().string(),
                          sweep_command("retry", plugins, list.folder)));
  return true;
}

void add_sweep_run(CLI::App& sweep, Outcome& outcome) {
  auto arguments = std::make_shared<SweepRunArguments>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(sweep, name, summary);
    add_plan_options(*command, arguments->sweep);
    command
        ->add_option("--workers",
                     arguments->local.workers,
                     "runs at a time (default: cores / threads of a run)")
        ->check(integer(between(1, 1024)));
    add_threads_option(*command, arguments->local.threads, "threads of each run (default: 1)");
    command->add_option("--rows", arguments->local.rows, "only these rows, as 0,3,5")
        ->delimiter(',')
        ->check(integer());
    add_size_option(*command, arguments->local.sizes);
    command->add_flag("--dry-run", arguments->dry_run, "start nothing");
    return command;
  };
  CLI::App* command = sub("run", "run what is left of a sweep on this machine; plans it first");
  command->callback([arguments, &outcome] { outcome.code = run(*arguments); });

  command = sub("retry", "run rows once more that failed, or were pruned, or are corrupt");
  command
      ->add_option("--state",
                   arguments->states,
                   "which rows: failed, trained, pruned, corrupt, lost, interrupted")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"failed", "trained", "pruned", "corrupt", "lost", "interrupted"}));
  command->callback([arguments, &outcome] { outcome.code = retry(*arguments); });
}

}  // namespace softalign::app
