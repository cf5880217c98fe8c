// softalign sweep plan|run|submit|status|retry|extend FILE: many runs of one spec, described by a sweep's file.
// FILE is the sweep's YAML or, once it is planned, its folder.
#include "framework/app/sweeps/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/early_termination.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/results.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/runs/submit.hpp"

namespace softalign::app {
namespace {

std::vector<std::size_t> all_rows(const RunList& list) {
  std::vector<std::size_t> rows(list.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

std::vector<std::string> SweepArguments::out_words() const {
  return out == SweepArguments().out ? std::vector<std::string>() : std::vector{"--results=" + out};
}

bool SweepArguments::is_planned() const {
  return fs::is_directory(file) || fs::path(file).filename() == "plan.jsonl";
}

LoadSpec loader(const SweepArguments& arguments) {
  return [arguments](SpecTree tree) {
    return load_with_plugins(std::move(tree), arguments.plugins, arguments.out, arguments.named);
  };
}

LoadSpec frozen_loader(const SweepArguments& arguments) {
  SweepArguments frozen = arguments;
  frozen.named = NamedPlugins::refuse;
  for (const std::string& file : named_plugins())
    frozen.plugins.push_back(file);  // named in the sweep's own file
  return loader(frozen);
}

std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments) {
  for (auto [name, base] : list.bases) load_plugins(base, arguments.plugins, NamedPlugins::refuse);
  std::vector<std::string> words;
  for (const std::string& file : named_plugins()) words.insert(words.end(), {"--plugin", file});
  return words;
}

void find_sweep_file(SweepArguments& arguments) {
  if (!fs::is_directory(arguments.file)) return;
  const RunList there = read_list(arguments.file);
  if (!fs::exists(there.file))
    throw SpecError("{}: was planned from {}, which is missing; give the sweep's YAML file",
                    arguments.file,
                    there.file.string());
  demand_regular_file(there.file);
  arguments.out = there.folder.parent_path().string();
  arguments.file = there.file.string();
  arguments.named = NamedPlugins::refuse;
}

SweepSubject subject_of(const SweepArguments& arguments) {
  SweepSubject subject;
  Plan& plan = subject.plan;
  if (arguments.is_planned()) {
    if (arguments.tiny || !arguments.overrides.empty())
      throw SpecError("{}: is a plan; --tiny and overrides need the YAML file", arguments.file);
    plan.list = planned(arguments);
    plan.wanted = all_rows(plan.list);
    return subject;
  }
  subject.sweep = read_sweep(arguments.file, arguments.tiny);
  subject.claims = subject.sweep->claims;
  plan = plan_sweep(*subject.sweep,
                    numbered_overrides(arguments.overrides),
                    arguments.out,
                    loader(arguments),
                    arguments.only);
  return subject;
}

bool keep(const RunList& made) {
  check_names_in(made.place());
  const bool there = is_there(made.place().plan());
  if (there && !made.hash.empty())
    check_runs(made, read_list(made.folder));
  else
    write_list(made);
  return !there;
}

void keep(const SweepArguments& arguments, SweepSubject& subject) {
  if (!subject.sweep) return;
  RunList& list = subject.plan.list;
  if (keep(list) || subject.is_study()) print_notes(list.notes);
  if (subject.is_study()) return;
  const std::size_t made = list.rows.size();
  list = read_list(list.folder);
  subject.plan.wanted = all_rows(list);
  if (list.rows.size() < made)
    write_error(fmt::format("note: run_cap is now {}, the plan has {}; {}\n",
                            made,
                            counted(list.rows.size(), "row"),
                            sweep_command("extend", arguments.out_words(), arguments.file)));
  if (list.rows.size() > made && list.method != SweepMethod::optuna)
    write_error(fmt::format("note: the plan has {}, more than {} now asks for; plans only grow\n",
                            counted(list.rows.size(), "row"),
                            arguments.file));
}

RunList planned(const SweepArguments& arguments) {
  const fs::path given = arguments.file;
  if (arguments.is_planned())
    return read_list(fs::is_directory(given) ? given : given.parent_path());
  if (!fs::exists(given))
    throw SpecError("{}: no such file; give the YAML file of a sweep or a study, or its folder",
                    given.string());
  const Sweep sweep = read_sweep(given);
  const ListFolder folder{fs::path(arguments.out) / sweep.name};
  if (!is_there(folder.plan()))
    throw SpecError("{}: not planned yet; {}",
                    folder.root.string(),
                    sweep_command("plan", arguments.out_words(), given));
  RunList list = read_list(folder.root);
  if (!sweep.has_variants() && list.hash != plan_hash(sweep, loader(arguments)))
    write_error(
        fmt::format("note: {} or its base has changed since it was planned; this shows {}\n",
                    given.string(),
                    folder.plan().string()));
  return list;
}

std::optional<Sweep> file_of(const SweepArguments& arguments, const RunList& list) {
  return arguments.is_planned() ? file_of(list) : read_sweep(arguments.file);
}

std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list) {
  try {
    return claims_of(list, file_of(arguments, list));
  } catch (const Error& error) {
    write_error(fmt::format("note: claims are not judged: {}\n", error.what()));
    return {};
  }
}

namespace {

void plan(SweepArguments arguments, bool dry_run, bool json) {
  find_sweep_file(arguments);
  const RunList made = subject_of(arguments).plan.list;
  print_notes(made.notes);
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

// Returns the rows that wait in a scheduler's queue, by job; prints a note on jobs whose status is unknown.
Json queued_json(const RunList& list, const ListStatus& status) {
  Json json = Json::array();
  if (list.method == SweepMethod::optuna || !is_there(list.place().submitted())) return json;
  Jobs jobs(fs::canonical(list.folder));
  std::size_t unknown = 0;
  for (const SubmittedArray& array : jobs.arrays()) {
    const auto queued = jobs.queued(array);
    std::vector<Index> rows = queued.value_or(array.rows);
    std::erase_if(rows, [&](Index k) {
      return k >= std::ssize(status.rows) ||
             !LocalRunOptions().begin.contains(status.rows[usize(k)].state);
    });
    if (!rows.empty() && !queued)
      ++unknown;
    else if (!rows.empty())
      json.push_back({{"job", array.job}, {"scheduler", array.scheduler}, {"rows", rows}});
  }
  if (unknown > 0)
    write_error(
        fmt::format("note: {} may be queued or running: the scheduler is unknown here or does not "
                    "answer; set SOFTALIGN_SCHEDULER to your own file\n",
                    counted(unknown, "job")));
  return json;
}

// Returns ExitCode::failed if a row is unreadable.
ExitCode status(const SweepArguments& arguments, bool json) {
  const RunList list = planned(arguments);
  const std::vector<StudyClaim> claims = claims_or_note(arguments, list);
  const ListStatus status = json ? list_status(list) : print_sweep(list, true);
  const Json queued = queued_json(list, status);
  ListResults results(list, status);
  const std::vector<JudgedClaim> judged = judge(claims, results);
  if (json) {
    write_sweep_table(list, status);
    Json all = list_json(list, &status, judged);
    all["queued"] = queued;
    all["promoted"] = promoted_rows(list);
    print_json(all);
  } else {
    for (const Json& job : queued)
      print_text("queued: {}, job {} of {}\n",
                 ranges_text(job["rows"]),
                 printable(job["job"].get<std::string>()),
                 printable(job["scheduler"].get<std::string>(), kWhole));
    if (const std::vector<Index> rows = promoted_rows(list); !rows.empty())
      print_text("to be resumed: row{} {}\n", rows.size() == 1 ? "" : "s", ranges_text(rows));
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
        "{}: more than run_cap has changed since {} was written; only run_cap can be raised, for "
        "other changes give the sweep another name",
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
  command
      .add_option(
          "sweep", arguments.file, "YAML file of a sweep or a study, or its folder in the results")
      ->required();
  command.add_option("--results", arguments.out, "folder for the records")->capture_default_str();
  add_plugin_option(command, arguments.plugins);
}

void add_sweep(CLI::App& app, Outcome& outcome) {
  CLI::App* sweep = add_command(app,
                                "sweep",
                                "plan and run many variations of a spec",
                                "Experiments",
                                "softalign sweep run configs/sweeps/scores.yaml");
  sweep->callback([sweep, &app] {
    if (sweep->get_subcommands().empty()) print_text("{}", sweep->help(app.get_name()));
  });
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

  CLI::App* command = sub("plan", "plan a sweep and list its rows");
  command->add_flag("--dry-run", s->dry_run, "write nothing");
  command->add_flag("--json", s->json, "print the plan as JSON");
  command->callback([s] { plan(s->sweep, s->dry_run, s->json); });

  add_sweep_run(*sweep, outcome);
  add_sweep_submit(*sweep);

  command = sub("status", "show the state of each row of a sweep");
  command->add_flag("--json", s->json, "print JSON");
  command->callback([s, &outcome] { outcome.code = status(s->sweep, s->json); });

  command = sub("extend", "add rows to a plan whose run_cap was raised");
  command->callback([s] { extend(s->sweep); });

  add_sweep_work(*sweep);
}

}  // namespace softalign::app
