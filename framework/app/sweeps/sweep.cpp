// softalign sweep plan|run|submit|status|retry|extend FILE: many runs of one spec, as a sweep's file says.
// FILE is the sweep's YAML or, once it is planned, its folder.
#include "framework/app/sweeps/sweep.hpp"

#include <algorithm>

#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/sweeps/sweep_table.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/text.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/runs/results.hpp"

namespace softalign::app {
namespace {

void plan(SweepArguments arguments, bool dry_run, bool json) {
  find_sweep_file(arguments);
  const RunList made = subject_of(arguments).plan.list;
  print_notes(made);
  const bool written = !dry_run && keep(made);
  if (json) return print_json(list_json(made));
  print_text("{}", plan_text(made));
  constexpr std::size_t kShown = 20;
  if (!made.rows.empty()) print_text("\n");
  for (std::size_t i = 0; i < std::min(kShown, made.rows.size()); ++i)
    print_text("{:>5}  {}  {}\n", i, made.rows[i].run_id, setting_text(made, made.rows[i]));
  if (made.rows.size() > kShown) print_text("       ... and {} more\n", made.rows.size() - kShown);
  if (!dry_run)
    print_text(
        "{}{}\n", written ? "written: " : "planned already: ", short_path(made.place().plan()));
}

// Failed where not all is known of the rows.
ExitCode status(const SweepArguments& arguments, bool json) {
  const RunList list = planned(arguments);
  const std::vector<StudyClaim> claims = claims_or_note(arguments, list);
  const ListStatus status = json ? list_status(list) : print_sweep(list, true);
  ListResults results(list, status);
  const std::vector<JudgedClaim> judged = judge(claims, results);
  if (json) {
    write_sweep_table(list, status);
    print_json(list_json(list, &status, judged));
  } else {
    print_text("{}", claims_text(judged));
  }
  ExitCode code = ExitCode::done;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    if (status.rows[i].state != RunState::unreadable) continue;
    code = ExitCode::failed;
    if (json) print_error(row_fault(list, list.rows[i], status.rows[i]));
  }
  return code;
}

void extend(SweepArguments arguments) {
  find_sweep_file(arguments);
  const RunList longer = subject_of(arguments).plan.list;
  const RunList before = read_list(longer.folder);
  if (before.hash != longer.hash)
    throw SpecError(
        "{}: more than run_cap has changed since {} was written; only the number of runs can be "
        "raised, for anything else give the sweep another name",
        arguments.file,
        longer.place().plan().string());
  const Index added = write_list(longer);
  print_text("{}: {} added, {} now\n",
             short_path(longer.place().plan()),
             counted(added, "row"),
             std::max(longer.rows.size(), before.rows.size()));
}

}  // namespace

std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const fs::path& sweep) {
  std::string text = fmt::format("softalign sweep {}", name);
  for (const std::string& option : options) text += " " + shell_word(option);
  const std::string file = sweep.string();
  return text + (file.starts_with('-') ? " -- " : " ") + shell_word(file);
}

CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary) {
  CLI::App* command = sweep.add_subcommand(name, summary);
  command->footer(fmt::format("Example:\n  softalign sweep {} {}{}",
                              name,
                              name == std::string("work") || name == std::string("propose")
                                  ? "results/scores"
                                  : "configs/sweeps/scores.yaml",
                              name == std::string("work") ? " --row 3" : ""));
  return command;
}

void add_plan_options(CLI::App& command, SweepArguments& arguments) {
  command.add_option("sweep", arguments.file, "the YAML file of a sweep or a study, or its folder")
      ->required();
  command.add_option("--out", arguments.out, "where records go")->capture_default_str();
  add_plugin_option(command, arguments.plugins);
}

void add_sweep(CLI::App& app, Outcome& outcome) {
  CLI::App* sweep = add_command(app,
                                "sweep",
                                "plan and run many variations of a spec",
                                "Experiments",
                                "softalign sweep run configs/sweeps/scores.yaml");
  sweep->require_subcommand(1);
  struct State {
    SweepArguments sweep;
    bool dry_run = false, json = false;
  };
  auto s = std::make_shared<State>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(*sweep, name, summary);
    add_plan_options(*command, s->sweep);
    return command;
  };

  CLI::App* command = sub("plan", "list the runs of a sweep, and write its plan");
  command->add_flag("--dry-run", s->dry_run, "write nothing");
  command->add_flag("--json", s->json, "print the plan as JSON");
  command->callback([s] { plan(s->sweep, s->dry_run, s->json); });

  add_sweep_run(*sweep, outcome);
  add_sweep_submit(*sweep);

  command = sub("status", "how the runs of a sweep stand, from their files");
  command->add_flag("--json", s->json, "print it as JSON");
  command->callback([s, &outcome] { outcome.code = status(s->sweep, s->json); });

  command = sub("extend", "add rows to a plan, after run_cap was raised");
  command->callback([s] { extend(s->sweep); });

  add_sweep_work(*sweep);
}

}  // namespace softalign::app
