// softalign sweep work, and propose: what workers, Slurm's tasks and scripts/optuna_sweep.py call.
#include <iostream>

#include "framework/app/experiments/load.hpp"
#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/types.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/runs/plan.hpp"
#include "framework/runs/work.hpp"

namespace softalign::app {
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
  for (const ListedRun& row : rows) check_places(list.place(), row.run_id, row.below);
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
                   "so many rows run at a time on this machine and share its memory")
      ->check(integer(between(1, 1024)));
  command->add_flag("--ask", s->ask, "ask on standard output after each dev evaluation");
  command->callback([s] { work(s->sweep, s->row, s->work, s->ask); });

  command = sub("propose", "add a configuration to a plan: what optuna calls");
  command->add_option("settings", s->settings, "its values, PATH=VALUE");
  command->callback([s] { propose(s->sweep, s->settings); });
}

}  // namespace softalign::app
