// softalign sweep submit FILE: hands what is left of a sweep to Slurm, and returns.
// softalign sweep work, and propose: what workers, Slurm's tasks and scripts/optuna_sweep.py call.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "framework/app/command.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/plan.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/runs/slurm_submit.hpp"

namespace softalign::app {
namespace {

struct SweepSubmitArguments {
  SweepArguments sweep;
  std::string profile;
  bool failed = false;
  bool dry_run = false;
  bool json = false;
};

// The resources of the sweep's file, as it is now, under those of the profile.
PlacedResources resources_of(const RunList& list, const SweepSubmitArguments& arguments) {
  const std::optional<Sweep> sweep = file_of(arguments.sweep, list);
  const Value block = sweep ? sweep->resources : Value();
  if (arguments.sweep.is_planned() &&
      !block.is_null())  // a plan may come from anyone, and name any file
    throw SpecError(
        "{}: says what Slurm runs (resources); name it if it is yours: {}",
        block.where.str(),
        sweep_command("submit", {"--results=" + folder_of(list.folder).string()}, sweep->file));
  std::optional<fs::path> profile;
  if (!arguments.profile.empty()) profile = arguments.profile;
  return read_resources(block.is_null() ? nullptr : &block, profile);
}

// The rows that a worker would begin or go on with.
std::vector<Index> rows_left(const RunList& list, bool failed) {
  const ListStatus status = list_status(list);
  std::vector<Index> rows;
  for (const ListedRun& row : list.rows) {
    const RunState state = status.rows[usize(row.k)].state;
    if (LocalRunOptions().begin.contains(state) || (failed && state == RunState::failed))
      rows.push_back(row.k);
  }
  return rows;
}

// Scripts are shown without Slurm, too.
SubmitMode mode_of(const SweepSubmitArguments& arguments, ScriptSetting& setting) {
  try {
    setting.config = SlurmConfig::ask();
  } catch (const MachineError& error) {
    if (!arguments.dry_run) throw;
    write_error(
        fmt::format("note: Slurm was not asked whether it takes the rows: {}\n", error.what()));
    return SubmitMode::show;
  }
  return arguments.dry_run ? SubmitMode::dry_run : SubmitMode::submit;
}

ScriptSetting setting_of(const RunList& list, const SweepSubmitArguments& arguments) {
  ScriptSetting setting;
  setting.sweep = list.name;
  setting.folder = fs::canonical(list.folder);
  setting.command = {program_file().string(), "sweep", "work", setting.folder.string()};
  for (const std::string& word : plugin_words(list, arguments.sweep))
    setting.command.push_back(word);
  setting.resources = resources_of(list, arguments);
  return setting;
}

Json to_json(const Submission& submission) {
  Json arrays = Json::array();
  for (std::size_t i = 0; i < submission.arrays.size(); ++i) {
    Json array = {{"rows", submission.arrays[i].rows}};
    if (i < submission.jobs.size()) array["job"] = submission.jobs[i];
    arrays.push_back(std::move(array));
  }
  return {{"submitted", std::move(arrays)}, {"queued", submission.queued}};
}

void print(const RunList& list, const Submission& submission, bool dry_run) {
  if (dry_run)
    for (const std::string& script : submission.scripts) print_text("{}\n", script);
  Table table({{"rows"}, {"job"}});
  for (std::size_t i = 0; i < submission.arrays.size(); ++i)
    table.row({ranges_text(submission.arrays[i].rows), dry_run ? "-" : submission.jobs[i]});
  if (!table.empty()) print_text("{}", table.fitted());
  if (!submission.queued.empty())
    print_text("in Slurm's queue already: {}\n", ranges_text(submission.queued));
  if (submission.arrays.empty() && submission.queued.empty())
    print_text("nothing is left to submit; {}\n",
               sweep_command("status", {}, short_path(list.folder)));
  if (!submission.jobs.empty())
    print_text("what they print: {}\n", short_path(list.place().slurm_logs()));
}

void submit(const SweepSubmitArguments& arguments) {
  SweepSubject subject = subject_of(arguments.sweep);
  keep(arguments.sweep, subject);
  const RunList& list = subject.plan.list;
  if (list.method == SweepMethod::optuna)
    throw SpecError("{}: optuna proposes one row after the other; {}",
                    list.name,
                    sweep_command("run", arguments.sweep.out_words(), arguments.sweep.file));
  ScriptSetting setting = setting_of(list, arguments);
  const SubmitMode mode = mode_of(arguments, setting);
  const Submission submission = softalign::submit(setting, rows_left(list, arguments.failed), mode);
  if (arguments.json)
    print_json(to_json(submission));
  else
    print(list, submission, arguments.dry_run);
}

}  // namespace

void add_sweep_submit(CLI::App& sweep) {
  auto arguments = std::make_shared<SweepSubmitArguments>();
  CLI::App* command =
      add_sweep_command(sweep, "submit", "hand what is left of a sweep to Slurm; plans it first");
  add_plan_options(*command, arguments->sweep);
  command->add_option("--profile",
                      arguments->profile,
                      "YAML file with the resources of a row, as configs/clusters/slurm.yaml");
  command->add_flag("--failed", arguments->failed, "rows that failed once more, too");
  command->add_flag("--dry-run", arguments->dry_run, "print the scripts, submit nothing");
  command->add_flag("--json", arguments->json, "print rows and jobs as JSON");
  command->callback([arguments] { submit(*arguments); });
}

namespace {

// What optuna proposes: rows for one more configuration, as JSON.
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

// After each dev evaluation a line of JSON on standard output, and one word back.
bool ask_outside(Index update, double value) {
  fmt::print("{}\n", Json{{"update", update}, {"value", value}}.dump());
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer))
    throw Interrupted("whoever decides about this run is gone; nothing is lost");
  return answer != "stop";
}

void work(const SweepArguments& arguments, Index k, WorkOptions options, bool ask) {
  const RunList list = planned(arguments);
  if (k >= std::ssize(list.rows))
    throw SpecError("--row {}: the plan has rows 0 to {}", k, std::ssize(list.rows) - 1);
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
    bool ask = false;
  };
  auto s = std::make_shared<State>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(sweep, name, summary);
    add_plan_options(*command, s->sweep);
    return command;
  };
  CLI::App* command = sub("work", "do one row of a plan: what workers and Slurm tasks call");
  command->add_option("--row", s->row, "its number in the plan")->required()->check(integer());
  add_threads_option(*command, s->work.threads, "threads (default: 1)");
  command->add_flag("--steal", s->work.steal, "take the row over from a process that may be alive");
  command->add_flag("--force", s->work.force, "begin it again even if it is complete");
  command->add_flag("--no-prune", s->work.never_prune, "to the end, whatever early_terminate says");
  add_size_option(*command, s->work.sizes);
  command
      ->add_option("--side-by-side",
                   s->work.sizes.side_by_side,
                   "how many rows run at a time on this machine and share its memory")
      ->check(integer(between(1, 1024)));
  command->add_flag("--ask", s->ask, "ask on standard output after each dev evaluation");
  command->callback([s] { work(s->sweep, s->row, s->work, s->ask); });

  command = sub("propose", "add a configuration to a plan: what optuna calls");
  command->add_option("settings", s->settings, "its values, PATH=VALUE");
  command->callback([s] { propose(s->sweep, s->settings); });
}

}  // namespace softalign::app
