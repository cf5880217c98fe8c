// softalign sweep submit FILE, cancel: submits the remaining rows of a sweep to a scheduler; cancels jobs.
// softalign sweep work, propose: called by workers, tasks of a scheduler and scripts/optuna_sweep.py.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <numeric>

#include "framework/app/command.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/ranks.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/runs/early_termination.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/plan.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/runs/submit.hpp"
#include "framework/train/followers.hpp"

namespace softalign::app {
namespace {

struct SweepSubmitArguments {
  SweepArguments sweep;
  std::string scheduler;
  std::string profile;
  int workers = 1;  // of a search by Optuna
  bool failed = false;
  bool dry_run = false;
  bool json = false;
};

// Returns the resources of the sweep's file as it is now, overridden by those of the profile.
PlacedResources resources_of(const RunList& list, const SweepSubmitArguments& arguments) {
  const std::optional<Sweep> sweep = file_of(arguments.sweep, list);
  const Value block = sweep ? sweep->resources : Value();
  if (arguments.sweep.is_planned() &&
      !block.is_null())  // a plan may come from anyone, and name any file
    throw SpecError(
        "{}: sets commands that a scheduler runs (resources); name it explicitly if you trust it: "
        "{}",
        block.where.str(),
        sweep_command("submit", {"--results=" + folder_of(list.folder).string()}, sweep->file));
  std::optional<fs::path> profile;
  if (!arguments.profile.empty()) profile = arguments.profile;
  return read_resources(block.is_null() ? nullptr : &block, profile);
}

struct Rows {
  std::vector<Index> left;  // rows that a worker would begin or resume
  std::vector<Index> running;
};

Rows rows_of(const RunList& list, bool failed) {
  const ListStatus status = list_status(list);
  Rows rows;
  for (const ListedRun& row : list.rows) {
    const RunState state = status.rows[usize(row.k)].state;
    if (LocalRunOptions().begin.contains(state) || (failed && state == RunState::failed))
      rows.left.push_back(row.k);
    else if (state == RunState::running)
      rows.running.push_back(row.k);
  }
  std::ranges::copy(promoted_rows(list), std::back_inserter(rows.left));
  std::ranges::sort(rows.left);
  return rows;
}

// Submits workers instead of rows, because Optuna proposes one row after another.
void search_by_workers(SubmitSetting& setting, const SweepSubmitArguments& arguments) {
  if (arguments.sweep.is_planned())
    throw SpecError("{}: Optuna searches the space of the sweep's file; give that file",
                    arguments.sweep.file);
  if (setting.resources.values.tasks > 1)
    throw SpecError("{}: Optuna's workers are single processes; omit tasks",
                    setting.resources.where.str());
  setting.what = "worker";
  setting.command = script_command("optuna_sweep.py");
  for (const std::string& word : {std::string("--program"),
                                  program_file().string(),
                                  std::string("--run-cap"),
                                  fmt::format("{}", *read_sweep(arguments.sweep.file).run_cap),
                                  "--results=" + setting.folder.parent_path().string(),
                                  fs::absolute(arguments.sweep.file).string()})
    setting.command.push_back(word);
  for (const std::string& plugin : arguments.sweep.plugins)
    setting.command.push_back("--plugin=" + fs::absolute(plugin).string());
}

SubmitSetting setting_of(const RunList& list, const SweepSubmitArguments& arguments) {
  SubmitSetting setting;
  setting.sweep = list.name;
  setting.folder = is_there(list.folder) ? fs::canonical(list.folder) : whole_path(list.folder);
  setting.scheduler = Scheduler::read(scheduler_name(arguments.scheduler));
  setting.command = {program_file().string(), "sweep", "work", setting.folder.string()};
  for (const std::string& word : plugin_words(list, arguments.sweep))
    setting.command.push_back(word);
  setting.resources = resources_of(list, arguments);
  if (list.method == SweepMethod::optuna) search_by_workers(setting, arguments);
  return setting;
}

Json to_json(const Submission& submission) {
  Json arrays = Json::array();
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    Json array = {{"rows", submission.arrays[i]}};
    if (i < submission.jobs.size()) array["job"] = submission.jobs[i];
    arrays.push_back(std::move(array));
  }
  return {{"submitted", std::move(arrays)}, {"queued", submission.queued}};
}

void print(const RunList& list,
           const SubmitSetting& setting,
           const Submission& submission,
           const std::vector<Index>& running) {
  const bool dry_run = submission.jobs.empty();
  if (dry_run)
    for (const std::string& script : submission.scripts) print_text("{}\n", script);
  Table table({{setting.what + "s"}, {"job"}});
  for (std::size_t i = 0; i < submission.arrays.size(); ++i)
    table.row({ranges_text(submission.arrays[i]), dry_run ? "-" : submission.jobs[i]});
  if (!table.empty()) print_text("{}", table.fitted());
  if (!submission.queued.empty())
    print_text("submitted already: {}\n", ranges_text(submission.queued));
  if (!running.empty())
    print_text("running: {}; a cancelled row can be submitted once it has ended\n",
               ranges_text(running));
  if (submission.arrays.empty() && submission.queued.empty() && running.empty())
    print_text("nothing is left to submit; {}\n",
               sweep_command("status", {}, short_path(list.folder)));
  if (!dry_run) print_text("output: {}\n", short_path(list.place().job_logs()));
}

void submit(const SweepSubmitArguments& arguments) {
  SweepSubject subject = subject_of(arguments.sweep);
  if (!arguments.dry_run) keep(arguments.sweep, subject);
  const RunList& list = subject.plan.list;
  const bool optuna = list.method == SweepMethod::optuna;
  if (!optuna && arguments.workers > 1)
    throw SpecError("--workers: {} has rows, each of which is a task; omit it", list.name);
  const SubmitSetting setting = setting_of(list, arguments);
  Rows rows;
  if (optuna) {
    rows.left.resize(usize(arguments.workers));
    std::iota(rows.left.begin(), rows.left.end(), 0);
  } else {
    rows = rows_of(list, arguments.failed);
  }
  const Submission submission = softalign::submit(setting, rows.left, arguments.dry_run);
  for (const std::string& note : submission.notes) write_error(fmt::format("note: {}\n", note));
  if (arguments.json)
    print_json(to_json(submission));
  else
    print(list, setting, submission, rows.running);
}

void cancel(const SweepArguments& arguments, const std::string& scheduler) {
  const RunList list = planned(arguments);
  Jobs jobs(fs::canonical(list.folder), scheduler);
  std::size_t cancelled = 0, unknown = 0;
  for (const SubmittedArray& array : jobs.arrays()) {
    const auto rows = jobs.queued(array);
    if (!rows) {
      write_error(
          fmt::format("note: the scheduler of job {} of {} is unknown here or does not answer; "
                      "--scheduler takes your own file\n",
                      printable(array.job),
                      printable(array.scheduler, kWhole)));
      ++unknown;
      continue;
    }
    if (rows->empty()) continue;
    jobs.cancel(array);
    print_text("cancelled: job {}; running rows save their state first\n", printable(array.job));
    ++cancelled;
  }
  if (cancelled == 0 && unknown > 0)
    throw MachineError("nothing was cancelled; {} may be queued or running",
                       counted(unknown, "job"));
  if (cancelled == 0) print_text("no submitted job is queued or running\n");
}

}  // namespace

void add_sweep_submit(CLI::App& sweep) {
  auto arguments = std::make_shared<SweepSubmitArguments>();
  CLI::App* command =
      add_sweep_command(sweep, "submit", "submit the unfinished rows of a sweep to a scheduler");
  add_plan_options(*command, arguments->sweep);
  const auto add_scheduler = [&] {
    command->add_option("--scheduler",
                        arguments->scheduler,
                        "slurm, pbs, lsf, sge, local, or your own YAML file (default: "
                        "$SOFTALIGN_SCHEDULER or slurm)");
  };
  add_scheduler();
  command->add_option("--profile",
                      arguments->profile,
                      "YAML file with the resources of a row, like configs/clusters/cluster.yaml");
  command->add_option("--workers", arguments->workers, "number of workers for method optuna")
      ->check(integer(between(1, 1024)));
  command->add_flag("--failed", arguments->failed, "submit failed rows again, too");
  command->add_flag("--dry-run",
                    arguments->dry_run,
                    "print the scripts without submitting them; needs no scheduler");
  command->add_flag("--json", arguments->json, "print rows and jobs as JSON");
  command->callback([arguments] { submit(*arguments); });

  command = add_sweep_command(
      sweep, "cancel", "cancel the submitted jobs; running rows save their state");
  add_plan_options(*command, arguments->sweep);
  add_scheduler();
  command->callback([arguments] { cancel(arguments->sweep, arguments->scheduler); });
}

namespace {

// Adds the rows of a configuration that Optuna proposes to the plan, and prints them as JSON.
void propose(const SweepArguments& arguments, const std::vector<std::string>& settings) {
  RunList list = planned(arguments);
  const std::vector<ListedRun> rows =
      rows_of(list, numbered_overrides(settings), frozen_loader(arguments));
  Json json = Json::array();
  for (const ListedRun& row : rows) {
    json.push_back(row_json(list, row));
    if (row.k >= std::ssize(list.rows)) list.rows.push_back(row);
  }
  write_list(list);
  for (const ListedRun& row : rows) check_names_in(list.place(), row.run_id, row.below);
  print_json(json);
}

// Prints a line of JSON after a dev evaluation and reads one word in reply; returns false for "stop".
bool ask_outside(Index update, double value) {
  fmt::print("{}\n", Json{{"update", update}, {"value", value}}.dump());
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer))
    throw Interrupted("the process that decides about this run has ended; nothing is lost");
  return answer != "stop";
}

// Reads the plan on every rank.
RunList planned_on_all(const SweepArguments& arguments, Index k, Ranks& ranks) {
  RunList list;
  agree(ranks, [&] {
    list = planned(arguments);
    if (k >= std::ssize(list.rows))
      throw SpecError("--row {}: the plan has rows 0 to {}", k, std::ssize(list.rows) - 1);
    return "run " + list.rows[usize(k)].run_id;
  });
  return list;
}

void work(const SweepArguments& arguments, Index k, WorkOptions options, bool ask, bool mpi) {
  const std::unique_ptr<Ranks> processes = start_ranks(mpi);
  Ranks& ranks = processes ? *processes : only_rank();
  options.ranks = &ranks;
  if (!ranks.first())
    return follow_silently(ranks, [&](Observer& silent) {
      const RunList list = planned_on_all(arguments, k, ranks);
      work_on(list, list.rows[usize(k)], options, frozen_loader(arguments), silent);
    });
  const RunList list = planned_on_all(arguments, k, ranks);
  const ListedRun& row = list.rows[usize(k)];
  if (ask) options.ask = ask_outside;
  ProgressObserver observer;
  observer.message(fmt::format("row {} of {}: {}", k, list.name, setting_text(list, row)));
  const ExperimentOutcome outcome = work_on(list, row, options, frozen_loader(arguments), observer);
  observer.clear();
  if (!ask)
    print_text("{}{}\n",
               outcome.pruned         ? "pruned: "
               : outcome.was_complete ? "complete already: "
                                      : "complete: ",
               short_path(outcome.folder));
}

}  // namespace

void add_sweep_work(CLI::App& sweep) {
  struct State {
    SweepArguments sweep;
    std::vector<std::string> settings;
    WorkOptions work;
    Index row = 0;
    bool ask = false, mpi = false;
  };
  auto s = std::make_shared<State>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(sweep, name, summary);
    add_plan_options(*command, s->sweep);
    return command;
  };
  CLI::App* command =
      sub("work", "work on one row of a plan; called by workers and by jobs of a scheduler");
  command->add_option("--row", s->row, "number of the row in the plan")
      ->required()
      ->check(integer());
  add_threads_option(*command, s->work.threads, "number of threads (default: 1)");
  command->add_flag(
      "--steal", s->work.steal, "take the row over from a process that may still be alive");
  command->add_flag("--force", s->work.force, "start the row again even if it is complete");
  command->add_flag(
      "--no-prune", s->work.never_prune, "ignore early_terminate and train to the end");
  add_size_option(*command, s->work.sizes);
  command
      ->add_option("--side-by-side",
                   s->work.sizes.side_by_side,
                   "number of rows that share the memory of this machine")
      ->check(integer(between(1, 1024)));
  command->add_flag(
      "--ask", s->ask, "ask on standard output after each dev evaluation whether to stop");
  command->add_flag("--mpi", s->mpi, "share the row among the processes started by mpirun or srun");
  command->callback([s] { work(s->sweep, s->row, s->work, s->ask, s->mpi); });

  command = sub("propose", "add a configuration to a plan; called by Optuna");
  command->add_option("settings", s->settings, "values of the configuration: PATH=VALUE");
  command->callback([s] { propose(s->sweep, s->settings); });
}

}  // namespace softalign::app
