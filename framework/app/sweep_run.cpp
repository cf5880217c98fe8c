// softalign sweep run, and retry: works through a plan's rows on this machine.
#include <algorithm>
#include <filesystem>
#include <thread>

#include "framework/app/command.hpp"
#include "framework/app/interrupt.hpp"
#include "framework/app/load.hpp"
#include "framework/app/runs.hpp"
#include "framework/app/script.hpp"
#include "framework/app/sweep.hpp"
#include "framework/app/sweep_table.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/text.hpp"
#include "framework/record/file.hpp"
#include "framework/sweep/plan_file.hpp"
#include "framework/sweep/sweep_status.hpp"

namespace softalign::app {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  SweepArguments sweep;
  int workers = 0;
  int threads = 1;
  SizeCheck sizes;
  std::vector<Index> rows;
  std::vector<std::string> states = {"failed", "corrupt"};
  bool dry_run = false;
};

int workers_for(const Arguments& arguments) {
  if (arguments.workers > 0) return arguments.workers;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::max(1, cores / arguments.threads);
}

LocalRunOptions options_of(const SweepPlan& plan, const Arguments& arguments) {
  LocalRunOptions options;
  options.command = {fs::read_symlink("/proc/self/exe").string(),
                     "sweep",
                     "work",
                     fs::absolute(plan.folder).string(),  // a name may begin with '-'
                     "--threads",
                     fmt::format("{}", arguments.threads)};
  for (const std::string& word : plugin_words(plan, arguments.sweep))
    options.command.push_back(word);
  options.workers = workers_for(arguments);
  options.rows = arguments.rows;
  const std::size_t rows = options.rows.empty() ? plan.rows.size() : options.rows.size();
  options.command.insert(
      options.command.end(),
      {"--side-by-side",
       fmt::format("{}", std::min(static_cast<std::size_t>(options.workers), rows))});
  if (!arguments.sizes.refuse) options.command.push_back("--no-size-check");
  for (const Index k : options.rows)
    if (k < 0 || k >= std::ssize(plan.rows))
      throw SpecError("--rows {}: the plan has rows 0 to {}", k, std::ssize(plan.rows) - 1);
  return options;
}

// What would be begun.
void print_rows(const SweepPlan& plan, const LocalRunOptions& options) {
  const SweepStatus stands = sweep_status(plan);
  Index count = 0;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const SweepRow& row = plan.rows[i];
    const bool wanted =
        options.rows.empty() || std::count(options.rows.begin(), options.rows.end(), row.k) > 0;
    if (!wanted || !options.begin.contains(stands.rows[i].state)) continue;
    print_text("row {} ({}): {}\n",
               row.k,
               setting_text(plan, row),
               softalign::to_string(stands.rows[i].state));
    ++count;
  }
  print_text("{} would be run, {} at a time\n", counted(count, "row"), options.workers);
}

ExitCode finish(const SweepPlan& plan, const LocalRunOptions& options, bool stopped) {
  const std::size_t lines = terminal_lines(STDOUT_FILENO);
  const SweepStatus status = print_sweep(plan, plan.rows.size() + 4 <= (lines > 0 ? lines : 64));
  std::vector<RowStatus> rows;  // of those that were to be run
  for (std::size_t i = 0; i < plan.rows.size(); ++i)
    if (options.rows.empty() ||
        std::count(options.rows.begin(), options.rows.end(), plan.rows[i].k) > 0)
      rows.push_back(status.rows[i]);
  const bool done = std::all_of(
      rows.begin(), rows.end(), [](const RowStatus& row) { return is_over(row.state); });
  const auto reached = [&](const RowStatus& row) {
    return row.run.last_update >= plan.early_terminate.min_updates;
  };
  if (plan.early_terminate.type != "none" && done &&
      std::none_of(rows.begin(), rows.end(), reached))
    write_error(fmt::format("note: early_terminate.min_updates is {}, and no run has so many\n",
                            plan.early_terminate.min_updates));
  if (stopped && !done)
    throw Interrupted("interrupted; the state is saved, run the same command again to go on");
  const auto failed = [](const RowStatus& row) {
    return row.state == RowState::failed || row.state == RowState::corrupt;
  };
  if (std::any_of(rows.begin(), rows.end(), failed)) {
    std::vector<std::string> plugins;
    for (const std::string& file : named_plugins())
      plugins.insert(plugins.end(), {"--plugin", file});
    print_error(fmt::format("some rows failed; their output is in {}; {}",
                            plan.place().logs().string(),
                            sweep_command("retry", plugins, plan.folder)));
    return ExitCode::failed;
  }
  return done ? ExitCode::done : ExitCode::interrupted;
}

// Optuna decides what comes next, so it is the one that works through the sweep.
[[noreturn]] void run_optuna(const Arguments& arguments, const Sweep& sweep) {
  std::vector<std::string> words = {"--run-cap",
                                    fmt::format("{}", *sweep.run_cap),
                                    "--out=" + arguments.sweep.out,
                                    "--workers",
                                    fmt::format("{}", std::max(1, arguments.workers)),
                                    "--threads",
                                    fmt::format("{}", arguments.threads),
                                    "--program",
                                    fs::read_symlink("/proc/self/exe").string()};
  for (const std::string& plugin : arguments.sweep.plugins) words.push_back("--plugin=" + plugin);
  words.insert(words.end(), {"--", arguments.sweep.file});  // which may begin with '-'
  become_script("optuna_sweep.py", words, "python3-optuna python3-yaml");
}

ExitCode run(const Arguments& arguments) {
  if (!fs::is_directory(arguments.sweep.file) && !arguments.dry_run)
    if (const Sweep sweep = read_sweep(arguments.sweep.file); sweep.method == SweepMethod::optuna) {
      make_plan(sweep, arguments.sweep.out,
                loader(arguments.sweep));  // what is wrong is said now
      run_optuna(arguments, sweep);
    }
  if (!arguments.dry_run) catch_interrupts();
  const SweepPlan plan = planned_or_plan(arguments.sweep, !arguments.dry_run);
  if (arguments.dry_run) {
    print_rows(plan, options_of(plan, arguments));
    return ExitCode::done;
  }
  SweepDisplay display(plan, workers_for(arguments));
  const LocalRunOptions options = options_of(plan, arguments);
  const bool stopped = run_locally(plan, options, display);
  display.clear();
  return finish(plan, options, stopped);
}

// A folder that cannot be read is moved aside, so that its row begins anew.
void move_aside(const SweepPlan& plan, const RunFolder& run) {
  for (int n = 1;; ++n) {
    const fs::path aside =
        plan.place().corrupt() / fmt::format("{}-{}", run.root.filename().string(), n);
    if (fs::exists(fs::symlink_status(aside))) continue;
    FileSystem::real().make_folders(aside.parent_path());
    fs::rename(run.root, aside);
    write_error(fmt::format("{}: moved to {}\n", short_path(run.root), short_path(aside)));
    return;
  }
}

ExitCode retry(const Arguments& arguments) {
  const SweepPlan plan = planned(arguments.sweep);
  LocalRunOptions options = options_of(plan, arguments);
  options.begin.clear();
  for (const RowState state : kRowStates)
    if (std::count(arguments.states.begin(), arguments.states.end(), softalign::to_string(state)) >
        0)
      options.begin.insert(state);
  if (options.begin.contains(RowState::pruned)) options.command.push_back("--no-prune");
  std::vector<Index> chosen;
  if (!arguments.dry_run) check_places(plan.place());
  const SweepStatus stands = sweep_status(plan);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const SweepRow& row = plan.rows[i];
    const RowStatus& status = stands.rows[i];
    if (!arguments.rows.empty() &&
        std::count(arguments.rows.begin(), arguments.rows.end(), row.k) == 0)
      continue;
    if (!options.begin.contains(status.state)) continue;
    chosen.push_back(row.k);
    if (status.state == RowState::corrupt && !arguments.dry_run) move_aside(plan, plan.run(row));
    if (arguments.dry_run)
      print_text(
          "row {} ({}): {}\n", row.k, setting_text(plan, row), softalign::to_string(status.state));
  }
  if (chosen.empty()) {
    print_text("nothing to retry\n");
    return ExitCode::done;
  }
  if (arguments.dry_run) return ExitCode::done;
  options.begin.insert(RowState::planned);
  options.rows = chosen;
  SweepDisplay display(plan, workers_for(arguments));
  const bool stopped = run_locally(plan, options, display);
  display.clear();
  return finish(plan, options, stopped);
}

}  // namespace

void add_sweep_run(CLI::App& sweep, Outcome& outcome) {
  auto arguments = std::make_shared<Arguments>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(sweep, name, summary);
    add_plan_options(*command, arguments->sweep);
    command
        ->add_option(
            "--workers", arguments->workers, "runs at a time (default: cores / threads of a run)")
        ->check(CLI::Range(1, 1024));
    add_threads_option(*command, arguments->threads, "threads of each run (default: 1)");
    command->add_option("--rows", arguments->rows, "only these rows, as 0,3,5")->delimiter(',');
    add_size_option(*command, arguments->sizes);
    command->add_flag("--dry-run", arguments->dry_run, "start nothing");
    return command;
  };
  CLI::App* command = sub("run", "run what is left of a sweep on this machine; plans it first");
  command->callback([arguments, &outcome] { outcome.code = run(*arguments); });

  command = sub("retry", "run rows once more that failed, or were pruned, or are corrupt");
  command
      ->add_option(
          "--state", arguments->states, "which rows: failed, pruned, corrupt, lost, interrupted")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"failed", "pruned", "corrupt", "lost", "interrupted"}));
  command->callback([arguments, &outcome] { outcome.code = retry(*arguments); });
}

}  // namespace softalign::app
